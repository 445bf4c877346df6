// SPDX-License-Identifier: MIT
// The state of the view: filters, order and the open candidate. It is stored in the page's address,
// so that links show the same view and the browser's back and forward buttons work.
"use strict";
kbench.state = { search: "", outcome: "", model: "", level: "", class: "", cause: "",
  range: "", sort: "", descending: false, open: null };
const listeners = [];
kbench.onState = (listener) => listeners.push(listener);

kbench.noFilter = { search: "", outcome: "", model: "", level: "", class: "", cause: "", range: "" };
const keys = [...Object.keys(kbench.noFilter), "sort"];

// A chart's filter: "speedup:0.5:0.7" means rows with a speedup from 0.5 to below 0.7.
const rangeOf = (text) => {
  const [column, low, high] = text.split(":");
  return ["speedup", "ended"].includes(column) && Number(low) <= Number(high) ? { column, low: Number(low), high: Number(high) } : null;
};
kbench.rangeText = () => {
  const range = rangeOf(kbench.state.range);
  if (range === null) return "";
  return range.column === "speedup" ? "speedup " + kbench.factor(range.low) + " to " + kbench.factor(range.high)
    : "judged from second " + kbench.number(range.low) + " to " + kbench.number(range.high);
};
const readHash = () => {
  const given = new URLSearchParams(location.hash.slice(1));
  for (const key of keys) kbench.state[key] = given.get(key) || "";
  kbench.state.descending = given.get("descending") === "1";
  const open = Number.parseInt(given.get("open"), 10);
  kbench.state.open = Number.isInteger(open) && open >= 0 && open < kbench.rows.count ? open : null;
};
const hash = () => {
  const given = new URLSearchParams();
  for (const key of keys) if (kbench.state[key]) given.set(key, kbench.state[key]);
  if (kbench.state.descending) given.set("descending", "1");
  if (kbench.state.open !== null) given.set("open", kbench.state.open);
  return "#" + given.toString();
};
// `leavesTrail`: adds an entry to the browser's history. That is for opening a candidate, not for
// typing.
kbench.change = (changes, leavesTrail) => {
  Object.assign(kbench.state, changes);
  history[leavesTrail ? "pushState" : "replaceState"](null, "", hash());
  for (const listener of listeners) listener();
};
kbench.open = (row) => kbench.change({ open: row }, true);
addEventListener("popstate", () => {
  readHash();
  for (const listener of listeners) listener();
});
readHash();

// Tests if a text contains the search; * stands for any text.
const matcher = (search) => {
  const parts = search.toLowerCase().split("*").filter((part) => part !== "");
  return (text) => {
    let at = 0;
    for (const part of parts) {
      at = text.indexOf(part, at);
      if (at < 0) return false;
      at += part.length;
    }
    return true;
  };
};

// Each word of the search must be in one of the row's texts. A text that many rows share is tested
// once.
const searched = (search) => {
  const words = search.split(/\s+/).filter((word) => word !== "").map(matcher);
  if (words.length === 0) return null;
  const rows = kbench.rows;
  const columns = [["problem", rows.problems], ["model", rows.models], ["cause", rows.causes],
    ["flags", rows.flag_sets], ["class", rows.classes],
    ["outcome", rows.outcomes.map((outcome) => outcome.label)]];
  const found = columns.map(([name, texts]) => [rows[name],
    words.map((word) => texts.map((text) => word(text.toLowerCase())))]);
  return (row) => words.every((_, w) => found.some(([column, hits]) => hits[w][column[row]]));
};

kbench.filtered = () => {
  const rows = kbench.rows, state = kbench.state, tests = [];
  const equals = (name, plural, label) => {
    if (!state[name]) return;
    const wanted = plural.findIndex((text) => label(text) === state[name]);
    tests.push((row) => rows[name][row] === wanted);
  };
  equals("outcome", rows.outcomes, (outcome) => outcome.name);
  equals("model", rows.models, (text) => text);
  equals("class", rows.classes, (text) => text);
  equals("cause", rows.causes, (text) => text);
  if (state.level !== "") tests.push((row) => String(rows.level[row]) === state.level);
  const range = rangeOf(state.range);
  if (range !== null) {
    const values = rows[range.column];
    tests.push((row) => values[row] !== null && values[row] >= range.low && values[row] < range.high);
  }
  const search = searched(state.search);
  if (search !== null) tests.push(search);
  const found = [];
  for (let row = 0; row < rows.count; ++row) {
    if (tests.every((test) => test(row))) found.push(row);
  }
  return found;
};
