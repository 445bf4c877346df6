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
// A layer for each coloured model, and one (null) for all others.
const layersOf = (palette) => palette.colored.concat(palette.many ? [null] : []);
const layerOf = (palette, model) => (palette.isColored(model) ? palette.colored.indexOf(model) : palette.colored.length);
const layerColor = (palette, layer) => (layer === null ? "var(--others)" : palette.color(layer));

kbench.charts.push({ id: "chart-speedups", holds: () => timedRows().length > 0, draw: (chart) => {
  const rows = kbench.rows, timed = timedRows(), palette = kbench.modelPalette;
  const values = timed.map((row) => rows.speedup[row]);
  kbench.frame(chart, "Distribution of speedups",
    "of correct candidates over " + kbench.data.baseline + "; dashed line: equally fast",
    "Histogram of " + timed.length + " speedups from " + kbench.factor(d3.min(values)) + " to " +
    kbench.factor(d3.max(values)) + ", median " + kbench.factor(d3.median(values)) + ".");
  const { left, right, top, bottom } = kbench.size;
  const x = d3.scaleLog(kbench.logDomain(values.concat([1])), [left, chart.width - right]);
  const [low, high] = x.domain();
  const bins = Math.max(8, Math.min(40, Math.floor(chart.width / 9), Math.ceil(Math.sqrt(timed.length) * 2)));
  const edges = d3.range(bins + 1).map((i) => low * (high / low) ** (i / bins));
  const layers = layersOf(palette);
  const counts = edges.slice(1).map(() => new Array(layers.length).fill(0));
  for (const row of timed) {
    const bin = Math.floor(Math.log(rows.speedup[row] / low) / Math.log(high / low) * bins);
    ++counts[Math.min(bins - 1, bin)][layerOf(palette, rows.models[rows.model[row]])];
  }
  const most = d3.max(counts, (of) => d3.sum(of));
  const y = d3.scaleLinear([0, most], [chart.height - bottom, top]).nice();
  kbench.axes(chart, x, y, "speedup over " + kbench.data.baseline + " (log)", "candidates",
    kbench.logTicks((value) => kbench.number(value) + "×"), kbench.wholeTicks);
  const parts = [];
  counts.forEach((of, bin) => {
    let below = 0;
    of.forEach((count, layer) => {
      if (count > 0) parts.push({ bin, layer, count, below });
      below += count;
    });
  });
  const say = (part) => (layers[part.layer] === null ? "the other models" : layers[part.layer]) + "\n" + kbench.factor(edges[part.bin]) +
    " to " + kbench.factor(edges[part.bin + 1]) + ": " + kbench.counted(part.count, "candidate");
  const filter = (part) => kbench.filterTo(Object.assign(
    { range: "speedup:" + edges[part.bin].toPrecision(6) + ":" + edges[part.bin + 1].toPrecision(6) },
    layers[part.layer] === null ? {} : { model: layers[part.layer] }));
  const box = (part) => [x(edges[part.bin]) + 0.5, y(part.below + part.count),
    Math.max(1, x(edges[part.bin + 1]) - x(edges[part.bin]) - 1), y(part.below) - y(part.below + part.count)];
  const bars = chart.svg.append("g").selectAll("rect").data(parts).join("rect").attr("class", "marks")
    .attr("x", (part) => box(part)[0]).attr("y", (part) => box(part)[1]).attr("width", (part) => box(part)[2])
    .attr("height", (part) => box(part)[3]).attr("fill", (part) => layerColor(palette, layers[part.layer]));
  kbench.says(bars, say, filter);
  chart.svg.append("line").attr("class", "one").attr("x1", x(1)).attr("x2", x(1))
    .attr("y1", top).attr("y2", chart.height - bottom);
  kbench.legend(chart, palette.entries);
  kbench.walk(chart, { lines: layers.map((_, layer) => parts.filter((part) => part.layer === layer)).reverse(), box,
    text: say, enter: filter, what: "filters the table by these candidates" });
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
  const hollow = (row) => rows.floor_ms[row] > 0 && rows.time_ms[row] < 1.5 * rows.floor_ms[row];
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
      .attr("fill", (row) => (hollow(row) ? "var(--paper)" : kbench.modelColor(rows.model[row])))
      .attr("fill-opacity", 0.75);
  }
};

kbench.charts.push({ id: "chart-times", holds: () => dotRows().length > 0, draw: (chart) => {
  const rows = kbench.rows, palette = kbench.modelPalette;
  const timed = dotRows();
  const limited = timed.filter((row) => rows.limit_ms[row] > 0);
  kbench.frame(chart, "Candidate against reference",
    "time of a call; below the dashed line the candidate is faster" +
    (limited.length > 0 ? "; short lines: the device's limit" : "") +
    (timed.some((row) => rows.floor_ms[row] > 0) ? "; hollow: little slower than an empty kernel" : ""),
    "Scatter of " + timed.length + " candidates' times against the reference's, both logarithmic.");
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
