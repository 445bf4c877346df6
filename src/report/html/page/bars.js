// SPDX-License-Identifier: MIT
// Outcomes by cause.
"use strict";
const mostBars = 18;

kbench.charts.push({ id: "chart-causes", holds: () => kbench.rows.count > 0, draw: (chart) => {
  const rows = kbench.rows, counts = new Map();
  for (let row = 0; row < rows.count; ++row) {
    const key = rows.outcome[row] * 1e5 + rows.cause[row];
    counts.set(key, (counts.get(key) || 0) + 1);
  }
  const all = [...counts].map(([key, count]) => ({ outcome: Math.floor(key / 1e5), cause: key % 1e5, count }))
    .sort((a, b) => b.count - a.count);
  const bars = all.slice(0, mostBars);
  const labelOf = (bar) => kbench.short(rows.outcomes[bar.outcome].label +
    (rows.causes[bar.cause] ? ", " + rows.causes[bar.cause] : ""), 120);
  const say = (bar) => labelOf(bar) + ": " + kbench.counted(bar.count, "candidate");
  const filter = (bar) => kbench.filterTo({ outcome: rows.outcomes[bar.outcome].name, cause: rows.causes[bar.cause] });
  // Labels that would take half of the chart next to their bars are placed above them.
  const widest = kbench.textWidth(bars.map(labelOf));
  const above = widest > chart.width * 0.52;
  const each = above ? 36 : Math.max(21, Math.min(30, 230 / bars.length));
  const left = above ? 4 : widest + 10, height = 8 + bars.length * each + kbench.size.bottom;
  kbench.frame(chart, "Outcomes by cause", all.length > mostBars ? "the " + mostBars + " most frequent of " + all.length : "",
    "Outcomes: " + bars.map(say).join("; ") + ".",
    { height, csv: () => [["outcome", "cause", "candidates"],
      ...all.map((bar) => [rows.outcomes[bar.outcome].name, rows.causes[bar.cause], bar.count])] });
  const x = d3.scaleLinear([0, bars[0].count], [left, chart.width - 52]);
  const axis = d3.axisBottom(x);
  kbench.wholeTicks(axis, chart.width - 52 - left, 58);
  chart.svg.append("g").attr("class", "axis").attr("transform", "translate(0," + (8 + bars.length * each) + ")").call(axis);
  chart.svg.append("text").attr("class", "soft").attr("text-anchor", "middle")
    .attr("x", (left + chart.width) / 2).attr("y", height - 8).text("candidates");
  const barTop = (i) => 8 + i * each + (above ? 17 : 0), thick = (above ? each - 20 : each - 5);
  const group = chart.svg.append("g").selectAll("g").data(bars).join("g");
  const rects = group.append("rect").attr("class", "marks").attr("x", left).attr("height", thick)
    .attr("y", (_, i) => barTop(i)).attr("width", (bar) => Math.max(1, x(bar.count) - left))
    .attr("fill", (bar) => kbench.outcomeColor(bar.outcome));
  kbench.says(rects, say, filter);
  group.each(function (bar, i) {
    const label = d3.select(this).append("text").attr("text-anchor", above ? "start" : "end")
      .attr("x", above ? left : left - 6).attr("y", above ? 8 + i * each + 12 : barTop(i) + thick / 2 + 4);
    kbench.fitText(label, labelOf(bar), above ? chart.width - 10 : left - 6);
  });
  group.append("text").attr("class", "soft").attr("x", (bar) => x(bar.count) + 5)
    .attr("y", (_, i) => barTop(i) + thick / 2 + 4).text((bar) => bar.count.toLocaleString("en"));
  kbench.walk(chart, { lines: bars.map((bar) => [bar]), text: say, enter: filter, what: "filters the table by this cause",
    box: (bar) => [left, barTop(bars.indexOf(bar)), Math.max(1, x(bar.count) - left), thick] });
} });
