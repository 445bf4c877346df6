// SPDX-License-Identifier: MIT
// Charts of times: speedups, candidate against reference, and the run itself.
"use strict";

const timedRows = () => {
  const found = [];
  for (let row = 0; row < kbench.rows.count; ++row) {
    if (kbench.rows.speedup[row] > 0) found.push(row);
  }
  return found;
};

kbench.drawSpeedups = () => {
  const rows = kbench.rows, timed = timedRows();
  if (timed.length === 0) return;
  const values = timed.map((row) => rows.speedup[row]);
  const chart = kbench.figure("chart-speedups", "Distribution of speedups",
    "of correct candidates over " + kbench.data.baseline + "; dashed: as fast as that",
    "Histogram of " + timed.length + " speedups from " + kbench.factor(d3.min(values)) + " to " +
    kbench.factor(d3.max(values)) + ", median " + kbench.factor(d3.median(values)));
  const { left, right, top, bottom } = kbench.size;
  const x = d3.scaleLog(kbench.logDomain(values.concat([1])), [left, chart.width - right]);
  const [low, high] = x.domain();
  const bins = Math.max(8, Math.min(40, Math.ceil(Math.sqrt(timed.length) * 2)));
  const edges = d3.range(bins + 1).map((i) => low * (high / low) ** (i / bins));
  const counts = edges.slice(1).map(() => new Array(rows.models.length).fill(0));
  for (const row of timed) {
    const bin = Math.floor(Math.log(rows.speedup[row] / low) / Math.log(high / low) * bins);
    ++counts[Math.min(bins - 1, bin)][rows.model[row]];
  }
  const most = d3.max(counts, (models) => d3.sum(models));
  const y = d3.scaleLinear([0, most], [chart.height - bottom, top]).nice();
  kbench.axes(chart, x, y, "speedup over " + kbench.data.baseline + " (log)", "candidates",
    kbench.logTicks((value) => kbench.number(value) + "×"), (axis) => axis.ticks(Math.min(5, most)));
  counts.forEach((models, bin) => {
    let below = 0;
    models.forEach((count, model) => {
      if (count === 0) return;
      const bar = chart.svg.append("rect").attr("class", "marks").attr("x", x(edges[bin]) + 0.5)
        .attr("width", Math.max(1, x(edges[bin + 1]) - x(edges[bin]) - 1))
        .attr("y", y(below + count)).attr("height", y(below) - y(below + count))
        .attr("fill", kbench.modelColor(model));
      kbench.says(bar, () => rows.models[model] + "\n" + kbench.factor(edges[bin]) + " to " +
        kbench.factor(edges[bin + 1]) + ": " + kbench.counted(count, "candidate"));
      below += count;
    });
  });
  chart.svg.append("line").attr("class", "one").attr("x1", x(1)).attr("x2", x(1))
    .attr("y1", top).attr("y2", chart.height - bottom);
  kbench.legend(chart.figure, rows.models.map((name, i) => [name, kbench.modelColor(i)]));
};

kbench.drawScatter = () => {
  const rows = kbench.rows;
  const timed = timedRows().filter((row) => rows.time_ms[row] > 0 && rows.baseline_ms[row] > 0);
  if (timed.length === 0) return;
  const limited = timed.filter((row) => rows.limit_ms[row] > 0);
  const chart = kbench.figure("chart-times", "Candidate against reference",
    "time of a call; below the dashed line the candidate is faster" +
    (limited.length > 0 ? "; short lines: what the device could do at most" : "") +
    (timed.some((row) => rows.floor_ms[row] > 0) ? "; hollow: little more than an empty kernel takes" : ""),
    "Scatter of " + timed.length + " candidates' times against the reference's, both logarithmic");
  const { left, right, top, bottom } = kbench.size;
  const reference = (row) => rows.baseline_ms[row];
  const x = d3.scaleLog(kbench.logDomain(timed.map(reference)), [left, chart.width - right]);
  const y = d3.scaleLog(kbench.logDomain(timed.map((row) => rows.time_ms[row])
    .concat(limited.map((row) => rows.limit_ms[row]))), [chart.height - bottom, top]);
  kbench.axes(chart, x, y, "reference (" + kbench.data.baseline + ")", "candidate",
    kbench.logTicks(kbench.duration), kbench.logTicks(kbench.duration));
  const low = Math.max(x.domain()[0], y.domain()[0]), high = Math.min(x.domain()[1], y.domain()[1]);
  if (low < high) {
    chart.svg.append("line").attr("class", "one").attr("x1", x(low)).attr("y1", y(low))
      .attr("x2", x(high)).attr("y2", y(high));
  }
  const ofProblem = new Map(limited.map((row) => [rows.problem[row] + " " + rows.limit_ms[row], row]));
  chart.svg.append("path").attr("class", "limits").attr("stroke", "var(--soft)").attr("fill", "none")
    .attr("d", [...ofProblem.values()].slice(0, 4000).map((row) =>
      "M" + (x(reference(row)) - 5) + "," + y(rows.limit_ms[row]) + "h10").join(""));
  const hollow = (row) => rows.floor_ms[row] > 0 && rows.time_ms[row] < 1.5 * rows.floor_ms[row];
  if (timed.length > 3000) {
    kbench.picture(chart, 0, 0, chart.width, chart.height, (context, color) => {
      context.globalAlpha = 0.5;
      for (const row of timed) {
        context.fillStyle = color(kbench.modelColor(rows.model[row]));
        context.fillRect(x(reference(row)) - 1, y(rows.time_ms[row]) - 1, 2, 2);
      }
    });
    chart.svg.append("rect").attr("class", "marks").attr("width", 1).attr("height", 1).attr("fill", "none");
  } else {
    const dots = chart.svg.append("g").selectAll("circle").data(timed).join("circle")
      .attr("class", "marks").attr("r", 3.5).attr("cx", (row) => x(reference(row)))
      .attr("cy", (row) => y(rows.time_ms[row])).attr("stroke", (row) => kbench.modelColor(rows.model[row]))
      .attr("fill", (row) => (hollow(row) ? "var(--paper)" : kbench.modelColor(rows.model[row])))
      .attr("fill-opacity", 0.75);
    kbench.says(dots, (row) => kbench.candidateName(row) + "\n" + kbench.duration(rows.time_ms[row]) +
      " against " + kbench.duration(reference(row)) + ": " + kbench.factor(rows.speedup[row]) +
      (rows.limit_ms[row] ? "\nat most " + kbench.duration(rows.limit_ms[row]) : ""), kbench.open);
  }
  kbench.legend(chart.figure, rows.models.map((name, i) => [name, kbench.modelColor(i)]));
};

// When each candidate was judged; of many, how many a minute.
kbench.drawTimeline = () => {
  const rows = kbench.rows, known = [];
  for (let row = 0; row < rows.count; ++row) if (rows.ended[row] !== null) known.push(row);
  if (kbench.data.charts.timeline_start === null || known.length === 0) return;
  known.sort((a, b) => rows.ended[a] - rows.ended[b]);
  const end = d3.max(known, (row) => rows.ended[row]) || 1;
  const started = new Date(kbench.data.charts.timeline_start * 1000).toISOString();
  if (known.length > 2000) drawRate(rows, known, end, started);
  else drawLanes(rows, known, end, started);
};

const secondsTitle = (started) => "seconds after " + started.slice(0, 19).replace("T", " ") + " UTC";

const drawLanes = (rows, known, end, started) => {
  const begin = (row) => Math.max(0, rows.ended[row] - (rows.seconds[row] || 0));
  // Each bar in the first lane that is free when it begins.
  const free = [], lanes = new Map();
  for (const row of [...known].sort((a, b) => begin(a) - begin(b))) {
    let lane = free.findIndex((until) => until <= begin(row) + 1e-3);
    if (lane < 0) lane = free.length < 24 ? free.push(0) - 1 : d3.scan(free);
    free[lane] = rows.ended[row];
    lanes.set(row, lane);
  }
  const laneHeight = 14, width = 1130, height = 12 + free.length * laneHeight + kbench.size.bottom;
  const chart = kbench.figure("chart-timeline", "The run",
    "each bar a candidate from its turn to its verdict", "Timeline of " + known.length +
    " candidates over " + Math.round(end) + " seconds", { broad: true, width, height });
  const x = d3.scaleLinear([0, end], [12, width - 12]);
  chart.svg.append("g").attr("transform", "translate(0," + (12 + free.length * laneHeight) + ")")
    .call(d3.axisBottom(x).ticks(10));
  chart.svg.append("text").attr("class", "soft").attr("text-anchor", "middle").attr("x", width / 2)
    .attr("y", height - 8).text(secondsTitle(started));
  const bars = chart.svg.append("g").selectAll("rect").data(known).join("rect").attr("class", "marks")
    .attr("x", (row) => x(begin(row))).attr("width", (row) => Math.max(1, x(rows.ended[row]) - x(begin(row)) - 0.5))
    .attr("y", (row) => 10 + lanes.get(row) * laneHeight).attr("height", laneHeight - 3)
    .attr("fill", (row) => kbench.outcomeColor(rows.outcome[row]));
  kbench.says(bars, (row) => kbench.candidateName(row) + "\n" + rows.outcomes[rows.outcome[row]].label +
    ", " + kbench.duration((rows.seconds[row] || 0) * 1e3), kbench.open);
};

const drawRate = (rows, known, end, started) => {
  const bins = 120, counts = new Array(bins).fill(0);
  for (const row of known) ++counts[Math.min(bins - 1, Math.floor(rows.ended[row] / end * bins))];
  const width = 1130, height = 260, perSecond = bins / end;
  const chart = kbench.figure("chart-timeline", "The run", "verdicts a second",
    "Rate of verdicts over " + Math.round(end) + " seconds", { broad: true, width, height });
  const { left, right, top, bottom } = kbench.size;
  const x = d3.scaleLinear([0, end], [left, width - right]);
  const y = d3.scaleLinear([0, d3.max(counts) * perSecond], [height - bottom, top]).nice();
  kbench.axes(chart, x, y, secondsTitle(started), "verdicts/s", (axis) => axis.ticks(10),
    (axis) => axis.ticks(4));
  chart.svg.append("path").datum(counts).attr("class", "marks curve").attr("fill", "var(--m0)").attr("fill-opacity", 0.3)
    .attr("stroke", "var(--m0)").attr("d", d3.area().curve(d3.curveStepAfter)
      .x((_, i) => x(i / bins * end)).y0(y(0)).y1((count) => y(count * perSecond)));
};
