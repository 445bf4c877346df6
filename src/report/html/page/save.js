// SPDX-License-Identifier: MIT
// A chart's data as a CSV file, and the chart as an SVG file, with title and legend, looking as on the page. Each element has its
// styles as attributes, because programs other than browsers do not support variables or style
// sheets.
"use strict";
const svgSpace = "http://www.w3.org/2000/svg";
const usual = { "fill-opacity": "1", stroke: "none", "stroke-width": "1px", "stroke-dasharray": "none",
  "font-weight": "400", "text-anchor": "start" };
const shapeStyles = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray"];
const textStyles = ["fill", "font-family", "font-size", "font-weight", "text-anchor"];
const giveStyles = (to, style, names) => {
  for (const name of names) {
    const value = style.getPropertyValue(name);
    if (value !== usual[name]) to.setAttribute(name, value);
  }
};

// A copy of a chart's element for the file; null if it only serves the pointer or the keyboard.
const copyOf = (element) => {
  const style = getComputedStyle(element);
  const isText = element.tagName === "text", isGroup = ["svg", "g"].includes(element.tagName);
  if (style.display === "none" || element.matches(".ring, title")) return null;
  if (!isGroup && style.fill === "rgba(0, 0, 0, 0)" && style.stroke === "none") return null;
  const made = element.cloneNode(isText);
  for (const name of ["style", "tabindex", "role", "aria-label", "aria-roledescription"]) made.removeAttribute(name);
  if (isText) giveStyles(made, style, textStyles);
  else if (!isGroup && element.tagName !== "image") giveStyles(made, style, shapeStyles);
  if (!isText) made.append(...[...element.children].map(copyOf).filter((child) => child !== null));
  return made;
};

// The lines into which the page breaks a text, each with its box.
const linesOf = (node, style) => {
  const range = document.createRange();
  range.selectNodeContents(node);
  if (style.whiteSpace === "nowrap") return [{ text: node.data, box: range.getBoundingClientRect() }];
  const lines = [];
  let end = 0;
  for (const letter of node.data) {
    range.setStart(node, end);
    range.setEnd(node, end += letter.length);
    const [box] = range.getClientRects(), last = lines[lines.length - 1];
    if (box && last && last.box.top === box.top) last.text += letter;
    else if (box) lines.push({ text: letter, box });
  }
  return lines;
};

const shape = (tag, attributes) => {
  const made = document.createElementNS(svgSpace, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
};

// A line of the page's text as an SVG text. `room`: its box; `isCut`: it may exceed the box.
const textOf = (text, style, room, isCut) => {
  const isUpright = style.writingMode !== "horizontal-tb", depth = kbench.textDepth(style);
  const made = shape("text", Object.assign({ fill: style.color }, isUpright
    ? { transform: `translate(${room.right - depth},${room.bottom}) rotate(-90)` } : { x: room.left, y: room.bottom - depth }));
  giveStyles(made, style, ["font-family", "font-size", "font-weight"]);
  if (isCut) kbench.fitText(d3.select(made), kbench.short(text, 400), isUpright ? room.bottom - room.top : room.right - room.left);
  else made.textContent = text;
  return made;
};

// Adds the texts around the chart: title, legend, names of the map. `within` converts a box on the
// page to its place in the file.
const addAround = (figure, within, add) => {
  const walker = document.createTreeWalker(figure, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode, parent = node.parentElement, style = getComputedStyle(parent);
    if (parent.closest("svg, button") !== null) continue;
    const isCut = parent.scrollWidth > parent.clientWidth || parent.scrollHeight > parent.clientHeight;
    const most = within(parent.getBoundingClientRect());
    for (const { text, box } of linesOf(node, style)) {
      if (box.width === 0) continue;
      const room = within(box);
      if (isCut) {
        room.top = Math.max(room.top, most.top);
        room.right = Math.min(room.right, most.right);
      }
      add(textOf(text, style, room, isCut), room);
    }
  }
  for (const patch of figure.querySelectorAll(".legend i")) {
    const { width, height } = patch.getBoundingClientRect(), place = within(patch.getBoundingClientRect());
    add(shape("rect", { x: place.left, y: place.top, width, height, rx: 2, fill: getComputedStyle(patch).backgroundColor }), place);
  }
};

kbench.svgOf = ({ figure }) => {
  // The whole chart, even if the page shows only a scrolled part.
  const scrolled = [...figure.querySelectorAll(".box")].map((box) => [box, box.scrollLeft, box.scrollTop]);
  figure.classList.add("whole");
  const frame = figure.getBoundingClientRect(), margin = 12, parts = [];
  let { width, height } = frame;
  const within = (box) => ({ left: box.left - frame.left, top: box.top - frame.top,
    right: box.right - frame.left, bottom: box.bottom - frame.top });
  const add = (part, place) => {
    parts.push(part);
    width = Math.ceil(Math.max(width, place.right + margin));
    height = Math.ceil(Math.max(height, place.bottom + margin));
  };
  const svg = figure.querySelector("svg"), drawn = svg.getBoundingClientRect(), chart = copyOf(svg), place = within(drawn);
  for (const [name, value] of [["x", place.left], ["y", place.top], ["width", drawn.width], ["height", drawn.height]])
    chart.setAttribute(name, value);
  add(chart, place);
  addAround(figure, within, add);
  figure.classList.remove("whole");
  for (const [box, left, top] of scrolled) box.scrollTo(left, top);
  const root = shape("svg", { width, height, viewBox: `0 0 ${width} ${height}` });
  root.append(shape("rect", { width, height, fill: getComputedStyle(document.body).backgroundColor }), ...parts);
  // Candidates' names may have characters that XML forbids.
  return new XMLSerializer().serializeToString(root).replace(/[^\t\n\r\x20-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, "\uFFFD") + "\n";
};

// The table of a chart whose marks are candidates.
kbench.candidatesTable = (list, columns) => {
  const rows = kbench.rows;
  return [["problem", "model", "sample", "outcome", "cause", ...columns], ...list.map((row) => [rows.problems[rows.problem[row]],
    rows.models[rows.model[row]], rows.sample[row], rows.outcomes[rows.outcome[row]].name, rows.causes[rows.cause[row]],
    ...columns.map((column) => rows[column][row])])];
};
// As RFC 4180 has it. A text that a spreadsheet would take for a formula gets a ' before it.
kbench.csvOf = (table) => table.map((cells) => cells.map((cell) => {
  const text = cell === null ? "" : typeof cell === "number" ? String(cell) : cell.replace(/^[=+\-@\t\r]/, "'$&")
    .replace(/[\0-\x08\v\f\x0e-\x1f\x7f]/g, "\uFFFD");
  return /[",\r\n]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text;
}).join(",") + "\r\n").join("");

const nameOf = (chart, extension) => chart.id.replace("chart-", "") + "." + extension;
kbench.saveButtons = (chart, title) => kbench.make("span", { class: "saves" },
  [["svg", "image/svg+xml", () => kbench.svgOf(chart)], ["csv", "text/csv", () => kbench.csvOf(chart.csv())]].map(([extension, type, text]) =>
    kbench.make("button", { type: "button", class: "save " + extension,
      "aria-label": "Save the chart “" + title + "” as " + extension.toUpperCase(), onclick: () => {
        const url = URL.createObjectURL(new Blob([text()], { type }));
        kbench.make("a", { href: url, download: nameOf(chart, extension) }).click();
        setTimeout(() => URL.revokeObjectURL(url), 60000);
      } }, extension.toUpperCase())));

// Replaces the page by its charts' files as JSON, for kbench report --format svg.
kbench.showFiles = () => {
  const files = Object.fromEntries(kbench.shownCharts().map((chart) => [nameOf(chart, "svg"), kbench.svgOf(chart)]));
  const made = kbench.make("script", { type: "application/json", id: "files" }, JSON.stringify(files).replaceAll("<", "\\u003c"));
  document.body.replaceChildren(made);
};
