// SPDX-License-Identifier: MIT
// The run over time: each candidate's bar spans the time of its judging. With many candidates: the
// number judged per second.
"use strict";
const mostBarsOfRun = 2000, mostTimelineRows = 24;

const secondsTitle = () => "seconds after " +
  new Date(kbench.data.charts.timeline_start * 1000).toISOString().slice(0, 19).replace("T", " ") + " UTC";
const knownEnds = () => {
  const known = [];
  for (let row = 0; row < kbench.rows.count; ++row) if (kbench.rows.ended[row] !== null) known.push(row);
  return known.sort((a, b) => kbench.rows.ended[a] - kbench.rows.ended[b]);
};
const beginOf = (row) => Math.max(0, kbench.rows.ended[row] - (kbench.rows.seconds[row] || 0));

// Puts each bar into the first row of the timeline that is free when the bar begins.
const timelineRowsOf = (known) => {
  const timelineRows = [], free = [];
  for (const row of [...known].sort((a, b) => beginOf(a) - beginOf(b))) {
    let timelineRow = free.findIndex((until) => until <= beginOf(row) + 1e-3);
    if (timelineRow < 0) timelineRow = free.length < mostTimelineRows ? free.push(0) - 1 : d3.scan(free);
    free[timelineRow] = kbench.rows.ended[row];
    (timelineRows[timelineRow] = timelineRows[timelineRow] || []).push(row);
  }
  return timelineRows;
};

const drawTimeline = (chart, known, end) => {
  const rows = kbench.rows, timelineRows = timelineRowsOf(known), each = 16;
  const height = 12 + timelineRows.length * each + kbench.size.bottom;
  kbench.frame(chart, "The run", "each bar is a candidate, from the start of its judging to its verdict",
    "Timeline of " +
    kbench.counted(known.length, "candidate") + " over " + Math.round(end) + " seconds.", { height, csv: () => kbench.candidatesTable(known, ["seconds", "ended"]) });
  const x = d3.scaleLinear([0, end], [14, chart.width - 28]), axis = d3.axisBottom(x);
  kbench.linearTicks()(axis, chart.width - 42, 70);
  chart.svg.append("g").attr("class", "axis").attr("transform", "translate(0," + (12 + timelineRows.length * each) + ")").call(axis);
  chart.svg.append("text").attr("class", "soft").attr("text-anchor", "middle").attr("x", chart.width / 2)
    .attr("y", height - 8).text(secondsTitle());
  const timelineRowOf = new Map();
  timelineRows.forEach((timelineRow, i) => { for (const row of timelineRow) timelineRowOf.set(row, i); });
  const box = (row) => [x(beginOf(row)), 10 + timelineRowOf.get(row) * each,
    Math.max(1, x(rows.ended[row]) - x(beginOf(row)) - 0.5), each - 3];
  const say = (row) => kbench.candidateName(row) + "\n" + rows.outcomes[rows.outcome[row]].label +
    ", " + kbench.duration((rows.seconds[row] || 0) * 1e3);
  const bars = chart.svg.append("g").selectAll("rect").data(known).join("rect").attr("class", "marks")
    .attr("x", (row) => box(row)[0]).attr("y", (row) => box(row)[1]).attr("width", (row) => box(row)[2])
    .attr("height", each - 3).attr("fill", (row) => kbench.outcomeColor(rows.outcome[row]));
  kbench.says(bars, say, kbench.open);
  kbench.legend(chart, kbench.outcomeEntries(known), null, 1);
  kbench.walk(chart, { lines: timelineRows, box, text: say, enter: kbench.open, what: "opens the candidate" });
};

const drawRate = (chart, known, end) => {
  const count = Math.min(120, Math.floor(chart.width / 6)), bins = d3.range(count).map((i) => ({ i, count: 0 }));
  for (const row of known) ++bins[Math.min(count - 1, Math.floor(kbench.rows.ended[row] / end * count))].count;
  const perSecond = count / end;
  const from = (bin) => bin.i / count * end, to = (bin) => (bin.i + 1) / count * end;
  kbench.frame(chart, "The run", "verdicts per second", "Rate of verdicts over " + Math.round(end) + " seconds.",
    { height: 240, csv: () => [["from_s", "to_s", "verdicts"], ...bins.map((bin) => [from(bin), to(bin), bin.count])] });
  const { left, right, top, bottom } = kbench.size;
  const x = d3.scaleLinear([0, end], [left, chart.width - right]);
  const y = d3.scaleLinear([0, d3.max(bins, (bin) => bin.count) * perSecond], [chart.height - bottom, top]).nice();
  kbench.axes(chart, x, y, secondsTitle(), "verdicts/s", kbench.linearTicks(), kbench.linearTicks());
  chart.svg.append("path").datum(bins.concat([bins[count - 1]])).attr("class", "rate")
    .attr("d", d3.area().curve(d3.curveStepAfter)
      .x((_, i) => x(i / count * end)).y0(y(0)).y1((bin) => y(bin.count * perSecond)));
  const say = (bin) => "second " + kbench.number(from(bin)) + " to " + kbench.number(to(bin)) + "\n" +
    kbench.counted(bin.count, "verdict") + ", " + kbench.number(bin.count * perSecond) + "/s";
  const filter = (bin) => kbench.filterTo({ range: "ended:" + from(bin).toPrecision(9) + ":" + to(bin).toPrecision(9) });
  const box = (bin) => [x(from(bin)), y(bin.count * perSecond), x(to(bin)) - x(from(bin)), y(0) - y(bin.count * perSecond)];
  const covers = chart.svg.append("g").selectAll("rect").data(bins).join("rect").attr("class", "marks")
    .attr("x", (bin) => box(bin)[0]).attr("width", (bin) => box(bin)[2]).attr("y", top)
    .attr("height", chart.height - top - bottom).attr("fill", "transparent");
  kbench.says(covers, say, filter);
  kbench.walk(chart, { lines: [bins], box, text: say, enter: filter, what: "filters the table by these candidates" });
};

kbench.charts.push({ id: "chart-timeline", broad: true,
  holds: () => kbench.data.charts.timeline_start !== null && knownEnds().length > 0, draw: (chart) => {
    const known = knownEnds(), end = d3.max(known, (row) => kbench.rows.ended[row]) || 1;
    (known.length > mostBarsOfRun ? drawRate : drawTimeline)(chart, known, end);
  } });
