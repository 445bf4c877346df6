// SPDX-License-Identifier: MIT
// The heat map of outcomes: a row for each problem, and columns for the models and their samples.
"use strict";

// Cells divide the chart's width. If they would be too narrow to distinguish, the map scrolls; on
// paper they become narrower instead.
const cellSizes = (chart, problems, models, samples, labelWidth) => {
  const across = models * samples, gap = models > 1 ? 4 : 0;
  const least = kbench.isPrinted() ? 0.2 : across > 4000 ? 1 : Math.max(2, 16 / samples);
  const room = chart.width - labelWidth - gap * models;
  const height = kbench.isPrinted() ? Math.max(2, Math.min(16, 800 / problems)) : 16;
  return { gap, height, width: Math.max(least, Math.min(80, room / across)) };
};

// The names of problems and models stay visible while the map scrolls.
const mapNames = (cells, labelWidth, blockWidth) => {
  const rows = kbench.rows, upright = blockWidth < 70;
  const head = rows.models.length < 2 ? 0 : upright ? 110 : 20;
  const models = rows.models.map((name, i) => kbench.make("span", { title: kbench.short(name, 400), class: upright && "upright",
    style: "left:" + i * (blockWidth + cells.gap) + "px;width:" + (upright ? Math.max(14, blockWidth) : blockWidth) + "px" }, kbench.short(name, 80)));
  const labels = cells.height < 10 ? [] : rows.problems.map((name) =>
    kbench.make("div", { title: kbench.short(name, 400), style: "height:" + cells.height + "px" }, kbench.short(name, 80)));
  return [kbench.make("div", { class: "corner", "aria-hidden": "true" }),
    kbench.make("div", { class: "models", "aria-hidden": "true", style: "height:" + head + "px" }, models),
    kbench.make("div", { class: "problems", "aria-hidden": "true", style: "width:" + labelWidth + "px" }, labels)];
};

const frameMap = (chart, names, labelWidth) => {
  chart.holder.append(kbench.make("div", { class: "map", style: "grid-template-columns:" + labelWidth + "px max-content" },
    names, chart.svg.node()));
  // A cell with the keyboard's focus must not be hidden under the names.
  chart.holder.style.scrollPadding = (names[1].offsetHeight + 4) + "px 4px 4px " + (labelWidth + 4) + "px";
};

kbench.charts.push({ id: "chart-outcomes", broad: true, holds: () => kbench.rows.count > 0, draw: (chart) => {
  const rows = kbench.rows, models = rows.models.length;
  const samples = [...new Set(rows.sample)].sort((a, b) => a - b);
  const place = new Map(samples.map((sample, i) => [sample, i]));
  const across = models * samples.length;
  const labels = d3.max(rows.problems, (name) => Math.min(40, name.length)) * 7 + 12;
  const labelWidth = Math.round(Math.min(labels, 260, chart.width * 0.4));
  const cells = cellSizes(chart, rows.problems.length, models, samples.length, labelWidth);
  const blockWidth = samples.length * cells.width, block = blockWidth + cells.gap;
  const width = Math.max(1, models * block), height = rows.problems.length * cells.height;
  kbench.frame(chart, "Outcomes by problem and sample",
    "a row for each problem, " + (models > 1 ? "a block of columns for each model, " : "") + "a column for each sample",
    "Heat map of " + kbench.counted(rows.problems.length, "problem") + " and " + kbench.counted(across, "sample") +
    " of each by outcome.", { box: true, width, height, csv: () => kbench.candidatesTable(d3.range(rows.count), ["speedup"]) });
  frameMap(chart, mapNames(cells, labelWidth, blockWidth), labelWidth);

  const modelX = (model) => model * block;
  const cellX = (row) => modelX(rows.model[row]) + place.get(rows.sample[row]) * cells.width;
  const cellY = (row) => rows.problem[row] * cells.height;
  const inset = cells.width > 4 ? 1 : 0, lineInset = cells.height > 6 ? 1 : 0;
  kbench.picture(chart, 0, 0, width, height, (context, color) => {
    for (let row = 0; row < rows.count; ++row) {
      context.fillStyle = color(kbench.outcomeColor(rows.outcome[row]));
      context.fillRect(cellX(row), cellY(row) + lineInset, Math.max(0.6, cells.width - inset), cells.height - 2 * lineInset);
    }
  });
  const key = (problem, model, sample) => (problem * models + model) * samples.length + sample;
  const byCell = new Map();
  for (let row = 0; row < rows.count; ++row) byCell.set(key(rows.problem[row], rows.model[row], place.get(rows.sample[row])), row);
  const rowAt = (px, py) => {
    const model = Math.floor(px / block), sample = Math.floor((px - modelX(model)) / cells.width);
    return sample < 0 || sample >= samples.length || model >= models ? undefined
      : byCell.get(key(Math.floor(py / cells.height), model, sample));
  };
  const say = (row) => kbench.candidateName(row) + "\n" + rows.outcomes[rows.outcome[row]].label +
    (rows.causes[rows.cause[row]] ? ", " + kbench.short(rows.causes[rows.cause[row]], 80) : "") +
    (rows.speedup[row] === null ? "" : ", " + kbench.factor(rows.speedup[row]));
  kbench.saysWithin(chart, [0, 0, width, height], rowAt, say, kbench.open);
  const lines = rows.problems.map(() => []);
  for (let row = 0; row < rows.count; ++row) lines[rows.problem[row]].push(row);
  for (const line of lines) line.sort((a, b) => cellX(a) - cellX(b));
  kbench.legend(chart, kbench.outcomeEntries(d3.range(rows.count)), null, 1);
  kbench.walk(chart, { lines, text: say, enter: kbench.open, what: "opens the candidate",
    box: (row) => [cellX(row), cellY(row), cells.width, cells.height] });
} });
