// SPDX-License-Identifier: MIT
// The head of the page, the models' metrics, and failures by cause.
"use strict";
const mostModelsInFull = 8, longFact = 320, mostRemarks = 6;

// Folds a long text, such as one about many problems, so that it does not fill the page.
const folded = (text) => (text.length <= longFact ? text
  : kbench.make("details", { class: "long" }, kbench.make("summary", {}, kbench.short(text, 160)), text));

kbench.drawHead = (toggleTheme) => {
  const data = kbench.data;
  document.getElementById("head").append(
    kbench.make("div", { class: "top" }, kbench.make("h1", {}, "kbench"),
      kbench.make("span", { class: "status " + (data.complete ? "good" : "bad") }, data.status),
      kbench.make("button", { type: "button", "aria-label": "Light or dark", onclick: toggleTheme }, "Light / dark")),
    kbench.make("p", { class: "result" }, data.result));
  if (data.warnings.length > 0)
    document.getElementById("head").append(kbench.make("div", { class: "serious", role: "alert" }, kbench.make("strong", {}, "Before you use these numbers"),
      kbench.make("ul", {}, data.warnings.map((text) => kbench.make("li", {}, folded(text))))));
};

// The run's facts and the notes that change no number.
const runFacts = () => {
  const { run_summary: facts, notes } = kbench.data;
  const brief = facts.filter(([label]) => ["device", "problems"].includes(label)).map(([, text]) => text);
  return kbench.make("details", { class: "long" }, kbench.make("summary", {}, "The run: " + kbench.short(brief.join("; "), 160)),
    kbench.make("dl", { class: "run_summary" }, facts.map(([label, text]) =>
      kbench.make("div", {}, kbench.make("dt", {}, label), kbench.make("dd", {}, folded(text))))),
    notes.map((text) => kbench.make("p", { class: "soft" }, text)));
};

// A model's row and the rows of its levels stay together in any order.
const modelGroups = (rows) => {
  const groups = [];
  for (const row of rows) {
    if (row.level === null || groups.length === 0) groups.push({ row, levels: [] });
    else groups[groups.length - 1].levels.push(row);
  }
  return groups;
};

// The name is a link to the model's candidates, those of the level in a level's row.
const summaryLine = (row, { name }) => {
  const model = kbench.modelOf(name), shown = row.rank ? `${row.rank}. ${row.name}` : row.name;
  const level = row.level === null ? "" : String(row.level);
  return kbench.make("tr", { class: row.level === null && "overall" },
    kbench.make("th", { scope: "row", title: row.name.length > 40 && kbench.short(row.name, 400) }, model === undefined ? shown
      : kbench.make("button", { type: "button", class: "link", onclick: () => kbench.filterTo({ model, level }) }, shown)),
    kbench.make("td", { class: "n" }, String(row.problems)), kbench.make("td", { class: "n" }, row.correct),
    row.cells.map((cell) => kbench.make("td", { class: "n" }, cell.text, cell.interval && kbench.make("small", {}, cell.interval))));
};

kbench.drawSummary = () => {
  const summary = kbench.data.summary, groups = modelGroups(summary.rows);
  const titles = ["model", "problems", "correct"].concat(summary.metrics);
  const valueOf = (group, column) => (column === 0 ? null : column === 1 ? group.row.problems
    : column === 2 ? group.row.correct_share : group.row.cells[column - 3].value);
  let sorted = -1, descending = true, levels = groups.length === 1;
  const body = kbench.make("tbody");
  const headers = titles.map((title, i) => kbench.make("th", { scope: "col", class: i > 0 && "n" },
    kbench.make("button", { type: "button", "aria-description": kbench.meaning("metric", title), onclick: () => {
      // First click: best first; second: worst first; third: the original order.
      if (sorted !== i) [sorted, descending] = [i, i !== 0];
      else if (descending === (i !== 0)) descending = !descending;
      else sorted = -1;
      draw();
    } }, title), kbench.make("span", { class: "printed" }, title)));
  const draw = () => {
    const inOrder = [...groups];
    if (sorted === 0) inOrder.sort((a, b) => (descending ? -1 : 1) * a.row.name.localeCompare(b.row.name, "en", { numeric: true }));
    else if (sorted > 0) {
      inOrder.sort((a, b) => {
        const x = valueOf(a, sorted), y = valueOf(b, sorted);
        if (x === null || y === null) return (x === null) - (y === null);
        return (descending ? -1 : 1) * (x - y);
      });
    }
    body.replaceChildren(...inOrder.flatMap((group) =>
      [group.row].concat(levels ? group.levels : []).map((row) => summaryLine(row, group.row))));
    headers.forEach((header, i) => {
      header.setAttribute("aria-sort", i !== sorted ? "none" : descending ? "descending" : "ascending");
      header.firstChild.textContent = titles[i] + (i !== sorted ? "" : descending ? " ▼" : " ▲");
    });
  };
  draw();
  const byLevel = groups.some((group) => group.levels.length > 0) && kbench.make("label", { class: "choice" },
    kbench.make("input", { type: "checkbox", checked: levels, onchange: (event) => {
      levels = event.target.checked;
      draw();
    } }), "by level");
  document.getElementById("summary").append(
    kbench.make("div", { class: "top" }, kbench.make("h2", { id: "summary-heading" }, "Models"), byLevel || null),
    kbench.make("div", { class: "wide" + (groups.length > mostModelsInFull ? " many" : ""), tabindex: "0", role: "group", "aria-label": "Metrics of each model" },
      kbench.make("table", {}, kbench.make("thead", {}, kbench.make("tr", {}, headers)), body)),
    kbench.make("p", { class: "soft" }, summary.notes.join(" · ")));
  const remarks = kbench.make("ul", {}, summary.remarks.map((text) => kbench.make("li", {}, text)));
  document.getElementById("summary").append(summary.remarks.length <= mostRemarks ? remarks
    : kbench.make("details", { class: "long" }, kbench.make("summary", {},
      summary.remarks.length + " remarks: models compared, by tag, kind and baseline"), remarks), runFacts());
};

kbench.drawFailures = () => {
  const groups = kbench.data.failures, rows = kbench.rows;
  if (groups.length === 0) return;
  const item = (group) => kbench.make("details", {},
    kbench.make("summary", { "aria-description": kbench.meaning("outcome", rows.outcomes[group.outcome].name) }, kbench.make("span", { class: "dot", style: "background:" + kbench.outcomeColor(group.outcome) }),
      group.count.toLocaleString("en") + " × " + rows.outcomes[group.outcome].label +
      (group.cause ? ", " + kbench.short(group.cause, 120) : "") + group.judge),
    kbench.make("ul", {}, group.rows.map((row, i) => kbench.make("li", {},
      kbench.make("button", { type: "button", class: "link", onclick: () => kbench.open(row) }, kbench.short(kbench.candidateName(row), 160)),
      ": " + kbench.short(group.texts[i], 400)))),
    kbench.make("button", { type: "button", class: "to-table", onclick: () => kbench.filterTo(
      { outcome: rows.outcomes[group.outcome].name, cause: group.cause }) }, "Show them in the table"));
  document.getElementById("failures").append(kbench.make("h2", { id: "failures-heading" }, "Failures by cause"),
    kbench.make("ul", { class: "groups" }, groups.map((group) => kbench.make("li", {}, item(group)))));
};
