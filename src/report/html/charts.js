// SPDX-License-Identifier: MIT
// Charts of shares: fast_p over p, pass@k over k, outcomes by problem and sample, and by cause.
"use strict";

const modelNames = (curves) => [...new Set(curves.map((curve) => curve.model))];
const shareAxis = (axis) => {
  axis.ticks(5);
  // The grid has lines alone.
  if (axis.tickFormat() === null) axis.tickFormat(d3.format(".1f"));
};

// A curve with the band of its interval.
const drawCurve = (chart, x, y, points, color, dashed, stepped) => {
  const curve = stepped ? d3.curveStepAfter : d3.curveLinear;
  const banded = points.filter((point) => point.lo !== null && point.hi !== null);
  chart.svg.append("path").datum(banded).attr("fill", color).attr("fill-opacity", 0.15)
    .attr("d", d3.area().curve(curve).x((p) => x(p.at)).y0((p) => y(p.lo)).y1((p) => y(p.hi)));
  chart.svg.append("path").datum(points).attr("class", "curve").attr("fill", "none")
    .attr("stroke", color).attr("stroke-width", 2).attr("stroke-dasharray", dashed ? "5 3" : null)
    .attr("d", d3.line().curve(curve).x((p) => x(p.at)).y((p) => y(p.value)));
};
const pointsOf = (curve, parameter) => curve[parameter].map((at, i) =>
  ({ at, value: curve.value[i], lo: curve.lo[i], hi: curve.hi[i], curve }));
const sayPoint = (parameter) => (point) => point.curve.model + "\n" + point.curve.metric + " at " +
  parameter + " = " + kbench.number(point.at) + ": " + point.value.toFixed(3) +
  (point.lo === null ? "" : " (" + point.lo.toFixed(2) + "–" + point.hi.toFixed(2) + ")");

kbench.drawFastP = () => {
  const curves = kbench.data.charts.fast_p || [];
  if (curves.length === 0) return;
  const names = modelNames(curves);
  const chart = kbench.figure("chart-fast-p", "fast_p over p",
    "share of problems whose first sample is correct and more than p times as fast as " +
    (kbench.data.baseline || "the baseline") + ", with its 95 % interval",
    "Curve of fast p over p from 0 to 3. " + curves.map((curve) => curve.model + " at p = 1: " +
      curve.value[curve.p.findIndex((p) => p >= 1)]).join("; "));
  const { left, right, top, bottom } = kbench.size;
  const x = d3.scaleLinear([0, 3], [left, chart.width - right]);
  const y = d3.scaleLinear([0, 1], [chart.height - bottom, top]);
  kbench.axes(chart, x, y, "p (speedup)", "fast_p", (axis) => axis.ticks(6), shareAxis);
  chart.svg.append("line").attr("class", "one").attr("x1", x(1)).attr("x2", x(1))
    .attr("y1", y(0)).attr("y2", y(1));
  for (const curve of curves) {
    const color = kbench.modelColor(names.indexOf(curve.model));
    const points = pointsOf(curve, "p");
    drawCurve(chart, x, y, points, color, false, true);
    const dots = chart.svg.append("g").selectAll("circle").data(points).join("circle")
      .attr("cx", (p) => x(p.at)).attr("cy", (p) => y(p.value)).attr("r", 6).attr("fill", "transparent");
    kbench.says(dots, sayPoint("p"));
  }
  kbench.legend(chart.figure, names.map((name, i) => [name, kbench.modelColor(i)]));
};

kbench.drawAtK = () => {
  const curves = kbench.data.charts.at_k;
  if (curves.length === 0) return;
  const names = modelNames(curves);
  const most = d3.max(curves, (curve) => d3.max(curve.k));
  const chart = kbench.figure("chart-at-k", "pass@k and fast_1@k over k",
    "chance that one of k samples is correct" +
    (kbench.data.on_cpu ? "" : " (dashed: and faster than the baseline)") + ", with its 95 % interval",
    "Curves over k from 1 to " + most + ". " + curves.map((curve) => curve.model + ", " +
      curve.metric + " at k = 1: " + curve.value[0]).join("; "));
  const { left, right, top, bottom } = kbench.size;
  const range = [left + 12, chart.width - right - 12];
  const x = most > 20 ? d3.scaleLog([1, most], range) : d3.scaleLinear([1, Math.max(2, most)], range);
  const y = d3.scaleLinear([0, 1], [chart.height - bottom, top]);
  const whole = (axis) => (most > 20 ? kbench.logTicks(d3.format("d"))(axis)
    : axis.tickValues(d3.range(1, most + 1)).tickFormat(d3.format("d")));
  kbench.axes(chart, x, y, "k (samples)", "share of problems", whole, shareAxis);
  for (const curve of curves) {
    const color = kbench.modelColor(names.indexOf(curve.model));
    const points = pointsOf(curve, "k");
    drawCurve(chart, x, y, points, color, curve.metric !== "pass@k", false);
    const dots = chart.svg.append("g").selectAll("circle").data(points).join("circle")
      .attr("cx", (p) => x(p.at)).attr("cy", (p) => y(p.value)).attr("r", 3.5).attr("fill", color);
    kbench.says(dots, sayPoint("k"));
  }
  kbench.legend(chart.figure, names.map((name, i) => [name, kbench.modelColor(i)]));
};

// Problems from top to bottom, models and their samples from left to right.
kbench.drawHeatMap = () => {
  const rows = kbench.rows;
  if (rows.count === 0) return;
  const samples = [...new Set(rows.sample)].sort((a, b) => a - b);
  const place = new Map(samples.map((sample, i) => [sample, i]));
  const across = rows.models.length * samples.length;
  const labelWidth = Math.min(240, 20 + 6.4 * d3.max(rows.problems, (name) => Math.min(40, name.length)));
  const cellHeight = 15, width = 1130, gap = rows.models.length > 1 ? 4 : 0;
  const cellWidth = Math.min(40, (width - labelWidth - gap * rows.models.length) / across);
  const top = rows.models.length > 1 ? 22 : 6;
  const height = top + rows.problems.length * cellHeight + 24;
  const chart = kbench.figure("chart-outcomes", "Outcomes by problem and sample",
    "a row for each problem, " + (rows.models.length > 1 ? "a block of columns for each model, " : "") +
    "a column for each sample",
    "Heat map of " + rows.problems.length + " problems and " + across + " samples of each by outcome",
    { broad: true, box: true, width, height });
  const modelX = (model) => labelWidth + model * (samples.length * cellWidth + gap);
  const order = rows.problems.map((_, i) => i);
  const cellX = (row) => modelX(rows.model[row]) + place.get(rows.sample[row]) * cellWidth;
  const cellY = (row) => top + rows.problem[row] * cellHeight;
  const inset = cellWidth > 4 ? 1 : 0;
  chart.svg.append("g").selectAll("text").data(order).join("text").attr("text-anchor", "end")
    .attr("x", labelWidth - 6).attr("y", (i) => top + i * cellHeight + 11)
    .text((i) => (rows.problems[i].length > 38 ? rows.problems[i].slice(0, 37) + "…" : rows.problems[i]));
  if (rows.models.length > 1) {
    chart.svg.append("g").selectAll("text").data(rows.models).join("text")
      .attr("x", (_, i) => modelX(i)).attr("y", 14)
      .text((name) => name.slice(0, Math.max(3, Math.floor(samples.length * cellWidth / 6.4))));
  }
  const byCell = new Map();
  const key = (row) => rows.problem[row] * 1e6 + rows.model[row] * samples.length + place.get(rows.sample[row]);
  for (let row = 0; row < rows.count; ++row) byCell.set(key(row), row);
  kbench.picture(chart, 0, 0, width, height, (context, color) => {
    for (let row = 0; row < rows.count; ++row) {
      context.fillStyle = color(kbench.outcomeColor(rows.outcome[row]));
      context.fillRect(cellX(row), cellY(row) + 1, Math.max(0.6, cellWidth - inset), cellHeight - 2);
    }
  });
  const rowAt = () => {
    const [px, py] = d3.mouse(chart.svg.node());
    const problem = Math.floor((py - top) / cellHeight);
    const model = Math.floor((px - labelWidth) / (samples.length * cellWidth + gap));
    const sample = Math.floor((px - modelX(model)) / cellWidth);
    if (model < 0 || sample < 0 || sample >= samples.length) return undefined;
    return byCell.get(problem * 1e6 + model * samples.length + sample);
  };
  const cover = chart.svg.append("rect").attr("class", "marks").attr("x", labelWidth).attr("y", top)
    .attr("width", width - labelWidth).attr("height", rows.problems.length * cellHeight)
    .attr("fill", "transparent").style("cursor", "pointer");
  cover.on("mousemove", () => {
    const row = rowAt();
    kbench.tip(d3.event, row === undefined ? null
      : kbench.candidateName(row) + "\n" + rows.outcomes[rows.outcome[row]].label +
        (rows.speedup[row] === null ? "" : ", " + kbench.factor(rows.speedup[row])));
  }).on("mouseleave", () => kbench.tip(null, null)).on("click", () => {
    const row = rowAt();
    if (row !== undefined) kbench.open(row);
  });
  const present = [...new Set(rows.outcome)].sort((a, b) => a - b);
  kbench.legend(chart.figure, present.map((outcome) =>
    [rows.outcomes[outcome].label, kbench.outcomeColor(outcome)]).concat([["", "transparent"]]));
};

kbench.drawCauses = () => {
  const rows = kbench.rows, counts = new Map();
  for (let row = 0; row < rows.count; ++row) {
    const key = rows.outcome[row] * 1e5 + rows.cause[row];
    counts.set(key, (counts.get(key) || 0) + 1);
  }
  const most = 18;
  const all = [...counts].map(([key, count]) => ({ outcome: Math.floor(key / 1e5), cause: key % 1e5, count }))
    .sort((a, b) => b.count - a.count);
  if (all.length === 0) return;
  const bars = all.slice(0, most);
  const labelOf = (bar) => rows.outcomes[bar.outcome].label +
    (rows.causes[bar.cause] ? ", " + rows.causes[bar.cause] : "");
  const barHeight = 21, left = 190;
  const height = 10 + bars.length * barHeight + kbench.size.bottom;
  const chart = kbench.figure("chart-causes", "Outcomes by cause",
    all.length > most ? "the " + most + " most frequent of " + all.length : "a click filters the table",
    "Outcomes: " + bars.map((bar) => labelOf(bar) + ": " + bar.count).join("; "), { height });
  const x = d3.scaleLinear([0, bars[0].count], [left, chart.width - 50]);
  chart.svg.append("g").attr("transform", "translate(0," + (10 + bars.length * barHeight) + ")")
    .call(d3.axisBottom(x).ticks(Math.min(5, bars[0].count)).tickFormat(d3.format("d")));
  chart.svg.append("text").attr("class", "soft").attr("text-anchor", "middle")
    .attr("x", (left + chart.width) / 2).attr("y", height - 8).text("candidates");
  const group = chart.svg.append("g").selectAll("g").data(bars).join("g")
    .attr("transform", (_, i) => "translate(0," + (10 + i * barHeight) + ")");
  const rects = group.append("rect").attr("class", "marks").attr("x", left).attr("height", barHeight - 5)
    .attr("width", (bar) => Math.max(1, x(bar.count) - left))
    .attr("fill", (bar) => kbench.outcomeColor(bar.outcome));
  kbench.says(rects, (bar) => labelOf(bar) + ": " + bar.count, (bar) => kbench.change(
    { outcome: rows.outcomes[bar.outcome].name, cause: rows.causes[bar.cause], search: "" }, true));
  group.append("text").attr("text-anchor", "end").attr("x", left - 6).attr("y", 12).text((bar) => {
    const text = labelOf(bar);
    return text.length > 30 ? text.slice(0, 29) + "…" : text;
  });
  group.append("text").attr("class", "soft").attr("x", (bar) => x(bar.count) + 5).attr("y", 12)
    .text((bar) => bar.count.toLocaleString("en"));
};
