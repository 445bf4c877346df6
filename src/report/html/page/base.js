// SPDX-License-Identifier: MIT
// Functions for all parts of the page. They insert a candidate's text as text, never as HTML.
"use strict";
const kbench = { data: JSON.parse(document.getElementById("data").textContent) };
kbench.rows = kbench.data.rows;

// Makes an element with properties ("class", "on…", attributes) and children (elements or texts).
kbench.make = (tag, properties, ...children) => {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children.flat()) {
    if (child !== null && child !== undefined && child !== "") made.append(child);
  }
  return made;
};

kbench.table = (titles, rows, numbers) => kbench.make("table", {},
  kbench.make("thead", {}, kbench.make("tr", {},
    titles.map((title, i) => kbench.make("th", { scope: "col", class: numbers[i] && "n" }, title)))),
  kbench.make("tbody", {}, rows.map((cells) => kbench.make("tr", {},
    cells.map((cell, i) => kbench.make("td", { class: numbers[i] && "n" }, cell))))));

const none = "–";
kbench.none = none;
const three = (value) => {
  const digits = value >= 100 ? 0 : value >= 10 ? 1 : 2;
  return value.toFixed(digits);
};
// Milliseconds as "10.2 µs", "1.25 ms", "2.31 s".
kbench.duration = (ms) => {
  if (ms === null || ms === undefined) return none;
  if (ms < 1e-3) return three(ms * 1e6) + " ns";
  if (ms < 1) return three(ms * 1e3) + " µs";
  return ms < 1e3 ? three(ms) + " ms" : three(ms / 1e3) + " s";
};
// The same for an axis: "10 µs".
kbench.roundDuration = (ms) => kbench.duration(ms).replace(/\.0+ /, " ").replace(/(\.\d*?)0+ /, "$1 ");
// Two significant digits, also for small values.
kbench.ratio = (value) => (Math.abs(value) >= 0.1 || value === 0 ? value.toFixed(2) : Number(value.toPrecision(2)).toString());
kbench.factor = (value) => (value === null || value === undefined ? none : kbench.ratio(value) + "×");
kbench.percent = (value) => (value === null || value === undefined ? none
  : (value > 0 && value < 0.0095 ? Number((value * 100).toPrecision(1)) : Math.round(value * 100)) + " %");
kbench.number = (value) => {
  if (value === null || value === undefined) return none;
  const size = Math.abs(value);
  return size !== 0 && (size < 1e-3 || size >= 1e6) ? value.toExponential(2)
    : Number(value.toPrecision(3)).toString();
};
kbench.counted = (count, noun) => count.toLocaleString("en") + " " + noun + (count === 1 ? "" : "s");
// Cuts a text, because a candidate may make it very long.
kbench.short = (text, most) => (text.length > most ? text.slice(0, most - 1) + "…" : text);

kbench.candidateName = (row) => kbench.rows.problems[kbench.rows.problem[row]] + " " +
  kbench.rows.models[kbench.rows.model[row]] + " " + kbench.rows.sample[row];
kbench.outcomeColor = (outcome) => "var(--" + kbench.rows.outcomes[outcome].name + ")";
kbench.outcomeEntries = (rows) => [...new Set(rows.map((row) => kbench.rows.outcome[row]))].sort((a, b) => a - b).map((outcome) => {
  const { label, name } = kbench.rows.outcomes[outcome];
  return [label, kbench.outcomeColor(outcome), kbench.meaning("outcome", name)];
});
kbench.seriesColor = (i) => "var(--m" + i % 8 + ")";

// Colours of models. With more than eight models, all but the best eight are grey, because a ninth
// colour would look like one of the eight.
const mostColors = 8;
const curves = (kbench.data.charts.fast_p || []).concat(kbench.data.charts.at_k);
// fast_p at p: that of the curve's last step up to p.
kbench.fastAt = (curve, p) => curve.value[curve.p.filter((step) => step <= p).length - 1];
const score = (name) => {
  let best = 0;
  for (const curve of curves) {
    if (curve.model !== name && !curve.model.startsWith(name + ",")) continue;
    best = Math.max(best, curve.p ? kbench.fastAt(curve, 1) : curve.value[0] * 1e-3);
  }
  return best;
};
kbench.palette = (all) => {
  const names = [...new Set(all)];
  const many = names.length > mostColors;
  const inOrder = [...names].sort();
  if (many) inOrder.sort((a, b) => score(b) - score(a));
  const colored = inOrder.slice(0, mostColors);
  const place = new Map(colored.map((name, i) => [name, i]));
  const grey = "var(--others)";
  return {
    many, colored, isColored: (name) => place.has(name),
    color: (name) => (place.has(name) ? kbench.seriesColor(place.get(name)) : grey),
    entries: colored.map((name, i) => [name, kbench.seriesColor(i)]).concat(many
      ? [[(inOrder.length - colored.length) + " more; the best of " + inOrder.length + " have colours", grey]] : []),
  };
};
// The model of a summary row, whose name may have a precision or judge after the model.
kbench.modelOf = (name) => kbench.rows.models.find((model) => name === model || name.startsWith(model + ","));
kbench.modelPalette = kbench.palette(kbench.rows.models);
kbench.modelColor = (model) => kbench.modelPalette.color(kbench.rows.models[model]);

// The details are split into lines once; a line is parsed when its candidate is opened.
let details = null;
kbench.detailsOf = (row) => {
  if (details === null) {
    const text = document.getElementById("details").textContent;
    // The element's text begins with an extra line break.
    details = (text.startsWith("\n") ? text.slice(1) : text).split("\n");
  }
  const line = details[row];
  return line ? JSON.parse(line) : {};
};

// Shows a text next to the pointer, or next to the mark that has the keyboard's focus.
kbench.tip = (at, text) => {
  const tip = document.getElementById("tip");
  tip.hidden = text === null;
  if (text === null) return;
  tip.textContent = kbench.short(text, 600);
  const width = tip.offsetWidth, height = tip.offsetHeight;
  tip.style.left = Math.max(4, Math.min(at.clientX + 14, innerWidth - width - 8)) + "px";
  tip.style.top = Math.max(4, at.clientY + 18 + height > innerHeight
    ? at.clientY - height - 10 : at.clientY + 18) + "px";
};
// An element with a description shows it at the pointer, and while it has the focus.
const described = ({ target }) => target instanceof Element && target.closest("[aria-description]");
for (const [enter, leave] of [["pointerover", "pointerout"], ["focusin", "focusout"]]) {
  addEventListener(enter, (event) => {
    const term = described(event);
    if (!term) return;
    const { left, bottom } = term.getBoundingClientRect();
    kbench.tip({ clientX: left - 14, clientY: bottom - 14 }, term.getAttribute("aria-description"));
  });
  addEventListener(leave, (event) => { if (described(event)) kbench.tip(null, null); });
}

// The meanings of outcomes, flags and metrics: rows of the documents' tables, as
// "flag | `name`, `other` | meaning |". The letters P, K and T of a metric stand for a number.
const terms = document.getElementById("terms").textContent.split("\n").filter((line) => line !== "").flatMap((line) => {
  const [kind, names, ...meaning] = line.replace(/ \|$/, "").split(" | ");
  const text = meaning.join(" | ").replace(/`/g, "").replace(/\[([^\]]*)\]\([^)]*\)/g, "$1");
  return [...names.matchAll(/`([^`]+)`/g)].map(([, name]) =>
    ({ kind, text, pattern: new RegExp("^" + name.replace(/[PKT]/g, "[\\d.e-]+") + "$") }));
});
kbench.meaning = (kind, name) => (terms.find((term) => term.kind === kind && term.pattern.test(name)) || { text: null }).text;
kbench.term = (kind, name, label) => kbench.make("span", { "aria-description": kbench.meaning(kind, name) }, label);

// Announces a text to screen readers.
kbench.say = (text) => { document.getElementById("say").textContent = text; };
