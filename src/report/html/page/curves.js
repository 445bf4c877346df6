// SPDX-License-Identifier: MIT
// Charts of each model's fractions of problems: fast_p over p, pass@k and fast_1@k over k.
"use strict";

const curvePalette = kbench.palette(curves.map((curve) => curve.model));
// Overlapping bands cannot be read, so with several models only the curve at the pointer shows its interval.
const hasBands = new Set(curves.map((curve) => curve.model)).size === 1;
const intervalNote = hasBands ? ", with its 95 % interval" : "; the curve at the pointer shows its 95 % interval";
const tenths = kbench.linearTicks((value) => value.toFixed(1));

// Draws a curve with the band of its interval, and its points for the pointer. The points are in a
// layer above all curves, so that they stay under the pointer when another curve is raised.
const drawCurve = (chart, { curves: layer, hits }, x, y, points, { dashed, stepped, dots, count }) => {
  const curve = stepped ? d3.curveStepAfter : d3.curveLinear;
  const { model } = points[0].curve;
  const group = layer.append("g").attr("data-model", model)
    .attr("class", "model" + (curvePalette.isColored(model) ? "" : " other") + (hasBands ? "" : " many"))
    .style("--c", curvePalette.color(model));
  const banded = points.filter((point) => point.lo !== null && point.hi !== null);
  // Bands overlap, so they are fainter if there are more.
  group.append("path").datum(banded).attr("class", "band").style("fill-opacity", Math.max(0.06, 0.3 / (count + 1)))
    .attr("d", d3.area().curve(curve).x((p) => x(p.at)).y0((p) => y(p.lo)).y1((p) => y(p.hi)));
  group.append("path").datum(points).attr("class", "curve").attr("stroke-dasharray", dashed ? "5 3" : null)
    .attr("d", d3.line().curve(curve).x((p) => x(p.at)).y((p) => y(p.value)));
  const circlesIn = (parent, name, radius) => parent.append("g").selectAll("circle").data(points).join("circle")
    .attr("class", name).attr("cx", (p) => x(p.at)).attr("cy", (p) => y(p.value)).attr("r", radius);
  if (dots) circlesIn(group, "dot", 3.5);
  const circles = circlesIn(hits, "hit-area", 6);
  kbench.says(circles, sayPoint, filterModel);
  circles.on("mouseenter", () => kbench.emphasise(model)).on("mouseleave", () => {
    kbench.emphasise(null);
    kbench.tip(null, null);
  });
};
const csvOfCurves = (all, parameter) => [["model", "metric", parameter, "value", "lo", "hi"], ...all.flatMap((curve) =>
  curve[parameter].map((at, i) => [curve.model, curve.metric, at, curve.value[i], curve.lo[i], curve.hi[i]]))];
// Fractions from 0 to the greatest that occurs.
const fractions = (all, range) => d3.scaleLinear([0, d3.max(all, (curve) => d3.max(curve.value.concat(curve.hi))) || 1], range).nice();
const pointsOf = (curve, parameter) => curve[parameter].map((at, i) =>
  ({ at, parameter, value: curve.value[i], lo: curve.lo[i], hi: curve.hi[i], curve }));
const sayPoint = (point) => point.curve.model + "\n" + point.curve.metric + " at " +
  point.parameter + " = " + kbench.number(point.at) + ": " + point.value.toFixed(3) +
  (point.lo === null ? "" : " (" + point.lo.toFixed(2) + "–" + point.hi.toFixed(2) + ")");
const filterModel = (point) => {
  const model = kbench.modelOf(point.curve.model);
  if (model !== undefined) kbench.filterTo({ model });
};
const walkCurves = (chart, lines, x, y) => kbench.walk(chart, {
  lines, text: sayPoint, enter: filterModel, what: "filters the table by the model",
  box: (point) => [x(point.at) - 4, y(point.value) - 4, 8, 8],
  over: (point) => kbench.emphasise(point === null ? null : point.curve.model),
});
const layersFor = (chart) => ({ curves: chart.svg.append("g"), hits: chart.svg.append("g") });
// Coloured curves are drawn above the others.
const inLayers = (all) => [...all].sort((a, b) => curvePalette.isColored(a.model) - curvePalette.isColored(b.model));

kbench.charts.push({ id: "chart-fast-p", holds: () => (kbench.data.charts.fast_p || []).length > 0, draw: (chart) => {
  const all = kbench.data.charts.fast_p;
  kbench.frame(chart, "fast_p over p",
    "fraction of problems whose first sample is correct and more than p times as fast as " +
    (kbench.data.baseline || "the baseline") + intervalNote,
    "Curve of fast p over p from 0 to 3. " + all.map((curve) => curve.model + " at p = 1: " + kbench.fastAt(curve, 1)).join("; ") + ".",
    { csv: () => csvOfCurves(all, "p") });
  const { left, right, top, bottom } = kbench.size;
  // Up to the p from which all curves are 0.
  const end = d3.max(all, (curve) => curve.p[Math.min(curve.p.length - 1, curve.value.filter((value) => value > 0).length)]);
  const x = d3.scaleLinear([0, Math.max(1.2, end)], [left, chart.width - right]);
  const y = fractions(all, [chart.height - bottom, top]);
  kbench.axes(chart, x, y, "p (speedup)", "fast_p", tenths, tenths);
  chart.svg.append("line").attr("class", "one").attr("x1", x(1)).attr("x2", x(1)).attr("y1", chart.height - bottom).attr("y2", top);
  const lines = all.map((curve) => pointsOf(curve, "p").filter((point) => point.at <= x.domain()[1]));
  const layers = layersFor(chart);
  for (const curve of inLayers(all))
    drawCurve(chart, layers, x, y, lines[all.indexOf(curve)], { stepped: true, count: all.length });
  kbench.legend(chart, curvePalette.entries, kbench.emphasise);
  walkCurves(chart, lines, x, y);
} });

// Each model's fractions for one sample as dots with their intervals, the best model first.
kbench.charts.push({ id: "chart-at-one", holds: () => kbench.data.charts.at_k.length > 0, draw: (chart) => {
  const all = kbench.data.charts.at_k;
  const models = [...new Set(all.map((curve) => curve.model))];
  const of = (model) => all.filter((curve) => curve.model === model).map((curve) => pointsOf(curve, "k")[0]);
  const best = (model) => Math.max(...of(model).map((point) => point.value));
  models.sort((a, b) => best(b) - best(a));
  const lineHeight = models.length > 12 ? 20 : Math.min(80, Math.max(34, 240 / models.length)), top = 8, height = top + models.length * lineHeight + 44;
  const fast = all.some((curve) => curve.metric !== "pass@k");
  kbench.frame(chart, fast ? "pass@1 and fast_1@1" : "pass@1", "fraction of problems whose sample is correct" +
    (fast ? " (hollow: and faster than the baseline)" : "") + ", with its 95 % interval",
  "Dots of " + kbench.counted(models.length, "model") + ". " + models.map((model) => model + ": " +
    of(model).map((point) => point.curve.metric + " " + point.value).join(", ")).join("; ") + ".",
  { height, box: models.length > 12, csv: () => csvOfCurves(all, "k").filter((line, i) => i === 0 || line[2] === 1) });
  const left = Math.min(chart.width * 0.42, 16 + kbench.textWidth(models));
  const x = d3.scaleLinear([0, 1], [left, chart.width - kbench.size.right]);
  const axis = d3.axisBottom(x);
  tenths(axis, chart.width - left, 44);
  chart.svg.append("g").attr("class", "axis").attr("transform", "translate(0," + (height - 40) + ")").call(axis);
  chart.svg.append("text").attr("class", "soft").attr("text-anchor", "middle")
    .attr("x", (left + chart.width) / 2).attr("y", height - 6).text("fraction of problems");
  const yOf = (point) => top + (models.indexOf(point.curve.model) + 0.5) * lineHeight +
    (fast ? (point.curve.metric === "pass@k" ? -1 : 1) * lineHeight / 6 : 0);
  models.forEach((model, i) => {
    const group = chart.svg.append("g").attr("class", "model" + (curvePalette.isColored(model) ? "" : " other")).attr("data-model", model)
      .style("--c", curvePalette.color(model));
    kbench.fitText(group.append("text").attr("text-anchor", "end").attr("x", left - 8)
      .attr("y", top + (i + 0.5) * lineHeight + 4), model, left - 8);
    group.append("g").selectAll("path").data(of(model).filter((point) => point.lo !== null)).join("path").attr("class", "curve")
      .attr("d", (point) => "M" + x(point.lo) + "," + (yOf(point) - 4) + "v8v-4H" + x(point.hi) + "v-4v8");
    const dots = group.append("g").selectAll("circle").data(of(model)).join("circle").attr("r", 4)
      .attr("class", (point) => "marks dot" + (point.curve.metric === "pass@k" ? "" : " hollow"))
      .attr("cx", (point) => x(point.value)).attr("cy", yOf);
    kbench.says(dots, sayPoint, filterModel);
  });
  kbench.walk(chart, { lines: models.map(of), text: sayPoint, enter: filterModel, what: "filters the table by the model",
    box: (point) => [x(point.value) - 4, yOf(point) - 4, 8, 8] });
} });

const mostSamples = () => d3.max(kbench.data.charts.at_k, (curve) => d3.max(curve.k)) || 0;
kbench.charts.push({ id: "chart-at-k", holds: () => mostSamples() > 1, draw: (chart) => {
  const all = kbench.data.charts.at_k, most = mostSamples();
  const fast = all.some((curve) => curve.metric !== "pass@k");
  kbench.frame(chart, fast ? "pass@k and fast_1@k over k" : "pass@k over k",
    "chance that one of k samples is correct" +
    (fast ? " (dashed: and faster than the baseline)" : "") + intervalNote,
    "Curves over k from 1 to " + most + ". " + all.map((curve) => curve.model + ", " +
      curve.metric + " at k = 1: " + curve.value[0]).join("; ") + ".",
    { csv: () => csvOfCurves(all, "k") });
  const { left, right, top, bottom } = kbench.size;
  const range = [left + 8, chart.width - right];
  const x = most > 20 ? d3.scaleLog([1, most], range) : d3.scaleLinear([1, most], range);
  const y = fractions(all, [chart.height - bottom, top]);
  const whole = most > 20 ? kbench.logTicks(d3.format("d")) : (axis, length, each) =>
    axis.tickValues(d3.range(1, most + 1, Math.max(1, Math.ceil(most * each / 2 / length)))).tickFormat(axis.tickFormat() || d3.format("d"));
  kbench.axes(chart, x, y, "k (samples)", "fraction of problems", whole, tenths);
  const layers = layersFor(chart);
  for (const curve of inLayers(all))
    drawCurve(chart, layers, x, y, pointsOf(curve, "k"), { dashed: curve.metric !== "pass@k", dots: true, count: all.length });
  kbench.legend(chart, curvePalette.entries, kbench.emphasise);
  walkCurves(chart, all.map((curve) => pointsOf(curve, "k")), x, y);
} });
