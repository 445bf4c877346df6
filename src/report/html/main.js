// SPDX-License-Identifier: MIT
// Puts the page together.
"use strict";

const setTheme = (dark) => {
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  kbench.repaint();
};
const darkWanted = matchMedia("(prefers-color-scheme: dark)");
let darkNow = darkWanted.matches;
document.documentElement.dataset.theme = darkNow ? "dark" : "light";

const drawHead = () => {
  const data = kbench.data;
  document.getElementById("head").append(...[
    kbench.make("div", { class: "top" }, kbench.make("h1", {}, "kbench"),
      kbench.make("span", { class: "status " + (data.complete ? "good" : "bad") }, data.status),
      kbench.make("button", { type: "button", "aria-label": "Light or dark",
        onclick: () => { darkNow = !darkNow; setTheme(darkNow); } }, "Light / dark")),
    ...data.warnings.map((text) => kbench.make("p", { class: "notice", role: "alert" }, text)),
    kbench.make("dl", { class: "facts" }, data.facts.map(([label, text]) =>
      kbench.make("div", {}, kbench.make("dt", {}, label), kbench.make("dd", {}, text)))),
    ...data.notes.map((text) => kbench.make("p", { class: "notice" }, text)),
  ]);
};

const drawSummary = () => {
  const summary = kbench.data.summary;
  const body = summary.rows.map((row) => kbench.make("tr", { class: row.level === null && "overall" },
    kbench.make("th", { scope: "row" }, (row.level === null ? "" : "\u2003") + row.name),
    kbench.make("td", { class: "n" }, String(row.problems)), kbench.make("td", { class: "n" }, row.correct),
    row.cells.map((cell) => kbench.make("td", { class: "n" }, cell.text, cell.interval && kbench.make("small", {}, cell.interval)))));
  document.getElementById("summary").append(kbench.make("h2", { id: "summary-heading" }, "Models"),
    kbench.make("div", { class: "wide", tabindex: "0", role: "group", "aria-label": "Metrics of each model" }, kbench.make("table", {},
      kbench.make("thead", {}, kbench.make("tr", {}, ["model", "problems", "correct"].concat(summary.metrics)
        .map((title, i) => kbench.make("th", { scope: "col", class: i > 0 && "n" }, title)))),
      kbench.make("tbody", {}, body))),
    kbench.make("p", { class: "soft" }, summary.notes.join(" · ")));
  if (summary.remarks.length > 0) document.getElementById("summary").append(
    kbench.make("ul", {}, summary.remarks.map((text) => kbench.make("li", {}, text))));
};

const drawFailures = () => {
  const groups = kbench.data.failures, rows = kbench.rows;
  if (groups.length === 0) return;
  const item = (group) => kbench.make("details", {},
    kbench.make("summary", {}, kbench.make("span", { class: "dot", style: "background:" + kbench.outcomeColor(group.outcome) }),
      group.count.toLocaleString("en") + " × " + rows.outcomes[group.outcome].label + (group.cause ? ", " + group.cause : "") + group.judge),
    kbench.make("ul", {}, group.rows.map((row, i) => kbench.make("li", {},
      kbench.make("button", { type: "button", class: "link", onclick: () => kbench.open(row) }, kbench.candidateName(row)), ": " + group.texts[i]))),
    kbench.make("button", { type: "button", onclick: () => {
      kbench.change({ outcome: rows.outcomes[group.outcome].name, cause: group.cause, search: "" }, true);
      document.getElementById("candidates-heading").scrollIntoView();
    } }, "Show them in the table"));
  document.getElementById("failures").append(kbench.make("h2", { id: "failures-heading" }, "Failures by cause"),
    kbench.make("ul", { style: "list-style:none;padding:0" }, groups.map((group) => kbench.make("li", {}, item(group)))));
};

const drawCharts = () => {
  if (typeof d3 === "undefined") {
    document.getElementById("charts").append(kbench.make("p", { class: "notice" },
      "There are no charts here: this kbench was built without D3 (Debian's node-d3)."));
    return;
  }
  for (const draw of [kbench.drawFastP, kbench.drawAtK, kbench.drawSpeedups, kbench.drawScatter, kbench.drawCauses,
    kbench.drawTimeline, kbench.drawHeatMap]) draw();
};

drawHead();
drawSummary();
drawCharts();
drawFailures();
kbench.drawTable();
kbench.onState(kbench.drawCandidate);
kbench.drawCandidate();

darkWanted.addEventListener("change", (event) => { darkNow = event.matches; setTheme(darkNow); });
// Paper is white, and holds the table as a whole.
const printing = (now) => {
  setTheme(now ? false : darkNow);
  for (const group of document.querySelectorAll("#failures details")) group.open = now;
  kbench.printTable(now);
};
matchMedia("print").addEventListener("change", (event) => printing(event.matches));
document.documentElement.dataset.ready = "1";
