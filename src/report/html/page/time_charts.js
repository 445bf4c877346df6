// SPDX-License-Identifier: MIT
// Charts of times: speedups, and candidate against reference.
"use strict";

const timedRows = () => {
  const found = [];
  for (let row = 0; row < kbench.rows.count; ++row) {
    if (kbench.rows.speedup[row] > 0) found.push(row);
  }
  return found;
};

// A histogram for each coloured model, and one for all others, below each other on one axis.
kbench.charts.push({ id: "chart-speedups", holds: () => timedRows().length > 0, draw: (chart) => {
  const rows = kbench.rows, timed = timedRows(), palette = kbench.modelPalette;
  const nameOf = (row) => (palette.isColored(rows.models[rows.model[row]]) ? rows.models[rows.model[row]] : "other models");
  const models = palette.colored.concat("other models").map((name) => ({ name, rows: timed.filter((row) => nameOf(row) === name) }))
    .filter((model) => model.rows.length > 0);
  for (const model of models) model.median = d3.median(model.rows, (row) => rows.speedup[row]);
  const values = timed.map((row) => rows.speedup[row]);
  const { right, top, bottom } = kbench.size, each = Math.max(32, Math.floor(226 / models.length));
  kbench.frame(chart, "Distribution of speedups",
    "of correct candidates over " + kbench.data.baseline + "; upright line: median; dashed line: equally fast",
    "Histograms of " + timed.length + " speedups from " + kbench.factor(d3.min(values)) + " to " + kbench.factor(d3.max(values)) +
    ". Medians: " + models.map((model) => model.name + " " + kbench.factor(model.median)).join(", ") + ".",
    { height: top + models.length * each + bottom, csv: () => kbench.candidatesTable(timed, ["speedup", "lo", "hi"]) });
  const labels = models.length > 1 ? Math.min(chart.width * 0.36, 14 + kbench.textWidth(models.map((model) => model.name))) : 0;
  const left = Math.max(labels, 14), low = chart.height - bottom;
  const x = d3.scaleLog(kbench.logDomain(values.concat([1])), [left, chart.width - right]);
  const [least, greatest] = x.domain(), bins = Math.max(8, Math.min(40, Math.floor((chart.width - left) / 9), Math.ceil(Math.sqrt(timed.length) * 2)));
  const edges = d3.range(bins + 1).map((i) => least * (greatest / least) ** (i / bins));
  const histogram = d3.histogram().value((row) => rows.speedup[row]).domain([least, greatest]).thresholds(edges.slice(1, -1));
  const lines = models.map((model, line) => histogram(model.rows).map((found, bin) => ({ model, line, bin, count: found.length }))
    .filter((part) => part.count > 0));
  const parts = lines.flat(), high = d3.scaleLinear([0, d3.max(parts, (part) => part.count)], [0, each - 5]);
  const axis = d3.axisBottom(x), floor = (line) => top + (line + 1) * each;
  kbench.logTicks((value) => kbench.number(value) + "×")(axis, chart.width - left - right, 58);
  chart.svg.append("g").attr("class", "axis").attr("transform", "translate(0," + low + ")").call(axis);
  chart.svg.append("text").attr("class", "soft").attr("text-anchor", "middle").attr("x", (left + chart.width - right) / 2)
    .attr("y", chart.height - 8).text("speedup over " + kbench.data.baseline + " (log)");
  chart.svg.append("text").attr("class", "soft").attr("x", 2).attr("y", 14)
    .text("highest bar: " + kbench.counted(high.domain()[1], "candidate"));
  const range = (part) => [edges[part.bin], edges[part.bin + 1]];
  const say = (part) => part.model.name + "\n" + range(part).map(kbench.factor).join(" to ") + ": " + kbench.counted(part.count, "candidate") +
    "\nmedian " + kbench.factor(part.model.median);
  const filter = (part) => kbench.filterTo(Object.assign({ range: "speedup:" + range(part).map((edge) => edge.toPrecision(6)).join(":") },
    palette.isColored(part.model.name) ? { model: part.model.name } : {}));
  const box = (part) => [x(edges[part.bin]) + 0.5, floor(part.line) - high(part.count),
    Math.max(1, x(edges[part.bin + 1]) - x(edges[part.bin]) - 1), high(part.count)];
  models.forEach((model, line) => {
    const floorLine = chart.svg.append("g").attr("class", "grid").append("line");
    floorLine.attr("x1", left).attr("x2", chart.width - right).attr("y1", floor(line)).attr("y2", floor(line));
    if (labels > 0) kbench.fitText(chart.svg.append("text").attr("text-anchor", "end").attr("x", left - 8).attr("y", floor(line) - 4), model.name, left - 10);
  });
  const bars = chart.svg.append("g").selectAll("rect").data(parts).join("rect").attr("class", "marks")
    .attr("x", (part) => box(part)[0]).attr("y", (part) => box(part)[1]).attr("width", (part) => box(part)[2])
    .attr("height", (part) => box(part)[3]).attr("fill", (part) => palette.color(part.model.name));
  kbench.says(bars, say, filter);
  chart.svg.append("g").selectAll("path").data(models).join("path").attr("class", "median")
    .attr("d", (model, line) => "M" + x(model.median) + "," + (floor(line) - each + 4) + "v" + (each - 4));
  chart.svg.append("line").attr("class", "one").attr("x1", x(1)).attr("x2", x(1)).attr("y1", top).attr("y2", low);
  kbench.walk(chart, { lines, box, text: say, enter: filter, what: "filters the table by these candidates" });
} });

// Draws the dashed line of equal times, and each problem's limit as a short line at the reference's
// time.
const drawBounds = (chart, x, y, limited) => {
  const low = Math.max(x.domain()[0], y.domain()[0]), high = Math.min(x.domain()[1], y.domain()[1]);
  if (low < high) {
    chart.svg.append("line").attr("class", "one").attr("x1", x(low)).attr("y1", y(low))
      .attr("x2", x(high)).attr("y2", y(high));
  }
  const rows = kbench.rows;
  const ofProblem = new Map(limited.map((row) => [rows.problem[row] + " " + rows.limit_ms[row], row]));
  chart.svg.append("path").attr("class", "limits").attr("stroke", "var(--soft)").attr("fill", "none")
    .attr("d", [...ofProblem.values()].slice(0, 4000).map((row) =>
      "M" + (x(rows.baseline_ms[row]) - 5) + "," + y(rows.limit_ms[row]) + "h10").join(""));
};
const mostDots = 3000;
const dotRows = () => timedRows().filter((row) => kbench.rows.time_ms[row] > 0 && kbench.rows.baseline_ms[row] > 0);
const drawDots = (chart, x, y, timed) => {
  const rows = kbench.rows, palette = kbench.modelPalette;
  // Models without a colour are drawn below the others.
  const isColored = (row) => palette.isColored(rows.models[rows.model[row]]);
  const inLayers = [...timed].sort((a, b) => isColored(a) - isColored(b) || a - b);
  if (timed.length > mostDots) {
    kbench.picture(chart, 0, 0, chart.width, chart.height, (context, color) => {
      context.globalAlpha = 0.5;
      for (const row of inLayers) {
        context.fillStyle = color(kbench.modelColor(rows.model[row]));
        context.fillRect(x(rows.baseline_ms[row]) - 1, y(rows.time_ms[row]) - 1, 2, 2);
      }
    });
  } else {
    chart.svg.append("g").selectAll("circle").data(inLayers).join("circle")
      .attr("class", "marks").attr("r", 3.5).attr("cx", (row) => x(rows.baseline_ms[row]))
      .attr("cy", (row) => y(rows.time_ms[row])).attr("stroke", (row) => kbench.modelColor(rows.model[row]))
      .attr("fill", (row) => kbench.modelColor(rows.model[row]))
      .attr("fill-opacity", 0.75);
  }
};

kbench.charts.push({ id: "chart-times", holds: () => dotRows().length > 0, draw: (chart) => {
  const rows = kbench.rows, palette = kbench.modelPalette;
  const timed = dotRows();
  const limited = timed.filter((row) => rows.limit_ms[row] > 0);
  kbench.frame(chart, "Candidate against reference",
    "time of a call; below the dashed line the candidate is faster" +
    (limited.length > 0 ? "; short lines: the device's limit" : ""),
    "Scatter of " + timed.length + " candidates' times against the reference's, both logarithmic.",
    { csv: () => kbench.candidatesTable(timed, ["time_ms", "baseline_ms", "speedup", "limit_ms"]) });
  const { left, right, top, bottom } = kbench.size;
  const x = d3.scaleLog(kbench.logDomain(timed.map((row) => rows.baseline_ms[row])), [left, chart.width - right]);
  const y = d3.scaleLog(kbench.logDomain(timed.map((row) => rows.time_ms[row])
    .concat(limited.map((row) => rows.limit_ms[row]))), [chart.height - bottom, top]);
  kbench.axes(chart, x, y, "reference (" + kbench.data.baseline + ")", "candidate",
    kbench.logTicks(kbench.roundDuration), kbench.logTicks(kbench.roundDuration));
  drawBounds(chart, x, y, limited);
  drawDots(chart, x, y, timed);
  const say = (row) => kbench.candidateName(row) + "\n" + kbench.duration(rows.time_ms[row]) +
    " against " + kbench.duration(rows.baseline_ms[row]) + ": " + kbench.factor(rows.speedup[row]) +
    (rows.limit_ms[row] ? "\nlimit " + kbench.duration(rows.limit_ms[row]) : "");
  // The pointer selects the nearest dot, because dots may be small.
  const tree = d3.quadtree(timed, (row) => x(rows.baseline_ms[row]), (row) => y(rows.time_ms[row]));
  kbench.saysWithin(chart, [left, top, chart.width - left - right + 8, chart.height - top - bottom],
    (px, py) => tree.find(px, py, 9), say, kbench.open);
  kbench.legend(chart, palette.entries);
  const lines = rows.models.map(() => []);
  for (const row of timed) lines[rows.model[row]].push(row);
  for (const line of lines) line.sort((a, b) => rows.baseline_ms[a] - rows.baseline_ms[b] || rows.time_ms[a] - rows.time_ms[b]);
  kbench.walk(chart, { lines, text: say, enter: kbench.open, what: "opens the candidate",
    box: (row) => [x(rows.baseline_ms[row]) - 4, y(rows.time_ms[row]) - 4, 8, 8] });
} });
