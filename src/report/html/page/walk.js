// SPDX-License-Identifier: MIT
// Charts by keyboard: Tab goes to a chart, arrows go from mark to mark, Enter acts like a click.
"use strict";

// The focused mark of each chart; it is kept when the chart is redrawn.
const places = new Map();
const pageStep = 10;

const nearest = (line, box, x) => {
  let best = 0, least = Infinity;
  line.forEach((mark, i) => {
    const [left, , width] = box(mark);
    const away = Math.abs(left + width / 2 - x);
    if (away < least) [best, least] = [i, away];
  });
  return best;
};

// `lines`: lines of marks, from top to bottom, each from left to right. `box(mark)`: [x, y, width,
// height] in the chart. `text(mark)`: its text. `enter(mark)`: the action of Enter. `over(mark)`:
// called when the focus enters a mark, with null when it leaves. `what`: Enter's action in words.
kbench.walk = (chart, { lines, box, text, enter, over, what }) => {
  const all = lines.filter((line) => line.length > 0);
  if (all.length === 0) return;
  const svg = chart.svg, node = svg.node();
  svg.attr("role", "application").attr("aria-roledescription", "chart").attr("tabindex", "0")
    .attr("aria-label", chart.sentence + " Arrow keys go from mark to mark" + (enter ? "; Enter " + what : "") + ".");
  const ring = svg.append("g").attr("class", "ring").attr("aria-hidden", "true").style("display", "none");
  const rects = ["back", "front"].map((name) => ring.append("rect").attr("class", name).attr("rx", 3));
  const [line, place] = places.get(chart.id) || [0, 0];
  let at = [Math.min(line, all.length - 1), 0];
  at[1] = Math.min(place, all[at[0]].length - 1);
  const current = () => all[at[0]][at[1]];

  const show = () => {
    const [x, y, width, height] = box(current());
    for (const rect of rects)
      rect.attr("x", x - 3).attr("y", y - 3).attr("width", width + 6).attr("height", height + 6);
    ring.style("display", null).raise();
    if (over) over(current());
    ring.raise();
    ring.node().scrollIntoView({ block: "nearest", inline: "nearest" });
    const frame = node.getBoundingClientRect(), scale = frame.width / chart.width;
    kbench.tip({ clientX: frame.left + (x + width) * scale, clientY: frame.top + (y + height) * scale }, text(current()));
    kbench.say(text(current()).replaceAll("\n", ", "));
    places.set(chart.id, at);
  };
  const hide = () => {
    ring.style("display", "none");
    kbench.tip(null, null);
    if (over) over(null);
  };
  const toLine = (step) => {
    const next = Math.max(0, Math.min(all.length - 1, at[0] + step));
    const [x, , width] = box(current());
    if (next !== at[0]) at = [next, nearest(all[next], box, x + width / 2)];
  };
  const alongLine = (step) => {
    // If each line has a single mark, left and right go from line to line.
    if (all[at[0]].length === 1) toLine(step);
    else at = [at[0], Math.max(0, Math.min(all[at[0]].length - 1, at[1] + step))];
  };
  const moves = {
    ArrowRight: () => alongLine(1), ArrowLeft: () => alongLine(-1),
    ArrowDown: () => toLine(1), ArrowUp: () => toLine(-1),
    PageDown: () => toLine(pageStep), PageUp: () => toLine(-pageStep),
    Home: () => alongLine(-Infinity), End: () => alongLine(Infinity),
  };
  svg.on("keydown", () => {
    const event = d3.event;
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key in moves) {
      moves[event.key]();
      show();
    } else if ((event.key === "Enter" || event.key === " ") && enter) {
      kbench.tip(null, null);
      enter(current());
    } else if (event.key === "Escape") {
      kbench.tip(null, null);
      return;
    } else {
      return;
    }
    event.preventDefault();
  }).on("focus", () => { if (node.matches(":focus-visible")) show(); }).on("blur", hide);
};
