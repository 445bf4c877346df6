// SPDX-License-Identifier: MIT
// The frames of charts. A chart's unit is one pixel of the page, so that its text is as large as
// the page's. Charts are redrawn if the page's width changes.
"use strict";
kbench.size = { left: 56, right: 28, top: 30, bottom: 44 };
// The table of charts; each chart's file adds a row { id, broad, holds(), draw(chart) }. `holds`:
// if there is data; `broad`: if it spans the whole width.
kbench.charts = [];
const narrowest = 380, gap = 14, onPaper = { narrow: 336, broad: 700 };

// Adds a chart's title, its sentence for screen readers, and its SVG. `box`: the chart scrolls if
// it is larger than its frame.
kbench.frame = (chart, title, note, sentence, options) => {
  const chosen = Object.assign({ height: 300, width: chart.width, box: false }, options);
  chart.figure.append(kbench.make("figcaption", {}, kbench.saveButtons(chart, title), title, note && kbench.make("small", {}, note)));
  const holder = chosen.box ? kbench.make("div", { class: "box" }) : chart.figure;
  if (chosen.box) chart.figure.append(holder);
  chart.holder = holder;
  chart.width = chosen.width;
  chart.height = chosen.height;
  chart.sentence = sentence;
  chart.csv = chosen.csv;
  chart.svg = d3.select(holder).append("svg").attr("role", "img").attr("aria-label", sentence)
    .attr("viewBox", "0 0 " + chosen.width + " " + chosen.height);
  if (chosen.box) chart.svg.style("width", chosen.width + "px").style("max-width", "none");
};

// `least`: a legend with fewer entries is left out, because a single model needs none.
kbench.legend = (chart, entries, over, least = 2) => {
  if (entries.length < least) return;
  chart.figure.append(kbench.make("ul", { class: "legend" }, entries.map(([label, color, meaning]) =>
    kbench.make("li", { "aria-description": meaning, ...(over && { onmouseenter: () => over(label), onmouseleave: () => over(null) }) },
      kbench.make("i", { style: "background:" + color }), label))));
};

// Measures texts in the charts' font without a layout of the page.
const ruler = document.createElement("canvas").getContext("2d");
const measured = (font, text) => {
  ruler.font = font;
  return ruler.measureText(text);
};
const widthOf = (text) => measured("12px " + getComputedStyle(document.documentElement).fontFamily, text).width;
// The distance from the baseline of a text in this style to its lower edge.
kbench.textDepth = (style) => measured(style.fontSize + " " + style.fontFamily, "").fontBoundingBoxDescent;
kbench.textWidth = (texts) => Math.ceil(Math.max(0, ...texts.map(widthOf)));
// Sets a text, cut to a width if it is too long; the whole text then appears at the pointer.
kbench.fitText = (selection, text, width) => {
  let kept = text;
  while (kept.length > 1 && widthOf(kept + (kept === text ? "" : "…")) > width) kept = kept.slice(0, -1);
  selection.text(kept === text ? text : kept + "…");
  if (kept !== text) selection.append("title").text(text);
};

// The number of ticks that there is room for.
const ticksFor = (length, each) => Math.max(2, Math.floor(length / each));
kbench.linearTicks = (format) => (axis, length, each) => {
  axis.ticks(ticksFor(length, each));
  // The grid's format is already set (to empty), because it has no labels.
  if (format && axis.tickFormat() === null) axis.tickFormat(format);
};
// On a logarithmic axis: ticks at round numbers, as many as there is room for.
kbench.logTicks = (format) => (axis, length, each) => {
  const [low, high] = axis.scale().domain(), most = ticksFor(length, each);
  const valuesOf = (steps, every) => {
    const values = [];
    for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); ++power) {
      if (power % every !== 0) continue;
      for (const step of steps) {
        const value = step * 10 ** power;
        if (value >= low * 0.999 && value <= high * 1.001) values.push(value);
      }
    }
    return values;
  };
  const choices = [[[1, 2, 5], 1], [[1, 3], 1], [[1], 1], [[1], 2], [[1], 3], [[1], 6]].map((choice) => valuesOf(...choice));
  const values = choices.find((some) => some.length <= most) || choices[2];
  axis.tickValues(values.length > 1 ? values : d3.ticks(low, high, Math.min(most, 5)));
  if (axis.tickFormat() === null) axis.tickFormat(format);
};
// Ticks at whole numbers.
kbench.wholeTicks = (axis, length, each) => {
  axis.tickValues(axis.scale().ticks(ticksFor(length, each)).filter(Number.isInteger));
  if (axis.tickFormat() === null) axis.tickFormat((value) => value.toLocaleString("en"));
};

kbench.axes = (chart, x, y, xTitle, yTitle, xTicks, yTicks) => {
  const { left, right, top, bottom } = kbench.size;
  const low = chart.height - bottom, across = chart.width - left - right, up = low - top;
  const grid = d3.axisLeft(y).tickSize(-across).tickFormat("");
  yTicks(grid, up, 40);
  chart.svg.append("g").attr("class", "grid").attr("transform", "translate(" + left + ",0)").call(grid);
  const xAxis = d3.axisBottom(x), yAxis = d3.axisLeft(y);
  xTicks(xAxis, across, 58);
  yTicks(yAxis, up, 40);
  chart.svg.append("g").attr("class", "axis").attr("transform", "translate(0," + low + ")").call(xAxis);
  chart.svg.append("g").attr("class", "axis").attr("transform", "translate(" + left + ",0)").call(yAxis);
  chart.svg.append("text").attr("class", "soft").attr("text-anchor", "middle")
    .attr("x", left + across / 2).attr("y", chart.height - 8).text(xTitle);
  chart.svg.append("text").attr("class", "soft").attr("x", 2).attr("y", 14).text(yTitle);
};

// The domain of a logarithmic axis for the positive values, with some margin.
kbench.logDomain = (values) => {
  const [low, high] = d3.extent(values.filter((value) => value > 0));
  return low === undefined ? [0.1, 10] : [low / 1.25, high * 1.25];
};

// Draws many marks as one image, because as elements they would make the page slow. `draw` gets a
// canvas context of two pixels per unit, and a function from a style variable to its colour.
kbench.picture = (chart, x, y, width, height, draw) => {
  const canvas = document.createElement("canvas");
  // Browsers limit the size of a canvas.
  const scale = Math.min(2, 16000 / Math.max(width, height));
  canvas.width = Math.max(1, Math.round(width * scale));
  canvas.height = Math.max(1, Math.round(height * scale));
  const image = chart.svg.append("image").attr("x", x).attr("y", y).attr("width", width)
    .attr("height", height).attr("preserveAspectRatio", "none");
  const paint = () => {
    const styles = getComputedStyle(document.documentElement);
    const known = new Map();
    const color = (style) => {
      if (!known.has(style)) known.set(style, styles.getPropertyValue(style.slice(4, -1)).trim());
      return known.get(style);
    };
    const context = canvas.getContext("2d");
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, canvas.width, canvas.height);
    context.setTransform(scale, 0, 0, scale, 0, 0);
    draw(context, color);
    image.attr("href", canvas.toDataURL());
  };
  paint();
  chart.paints.push(paint);
};

// Gives D3 elements a text at the pointer and an action for clicks.
kbench.says = (selection, text, click) => {
  selection.on("mousemove", (datum) => kbench.tip(d3.event, text(datum)))
    .on("mouseleave", () => kbench.tip(null, null));
  if (click) selection.classed("hit", true).on("click", click);
};

// The same for marks without elements of their own: `at(x, y)` returns the mark at a place of the
// chart, or undefined.
kbench.saysWithin = (chart, [x, y, width, height], at, text, click) => {
  const found = () => at(...d3.mouse(chart.svg.node()));
  const cover = chart.svg.append("rect").attr("class", "marks").attr("x", x).attr("y", y)
    .attr("width", width).attr("height", height).attr("fill", "transparent");
  cover.on("mousemove", () => {
    const mark = found();
    cover.style("cursor", mark === undefined ? null : "pointer");
    kbench.tip(d3.event, mark === undefined ? null : text(mark));
  }).on("mouseleave", () => kbench.tip(null, null)).on("click", () => {
    const mark = found();
    if (mark !== undefined) click(mark);
  });
};

// Draws a model above the others: the model at the pointer or the keyboard's focus, else the one
// that filters the table.
kbench.emphasise = (name) => {
  const chosen = name === null ? kbench.state.model : name;
  for (const group of document.querySelectorAll("#charts g.model")) {
    const strong = chosen !== "" && group.dataset.model === chosen;
    if (strong && !group.classList.contains("strong")) d3.select(group).raise();
    group.classList.toggle("strong", strong);
  }
};

let shownCharts = [], printed = false, later = null;
const drawOne = (chart) => {
  const held = chart.figure.contains(document.activeElement);
  chart.paints = [];
  chart.figure.replaceChildren();
  chart.draw(chart);
  if (held && chart.svg) chart.svg.node().focus({ preventScroll: true });
};
const drawAll = () => {
  const grid = document.getElementById("charts");
  const few = shownCharts.filter((chart) => !chart.broad).length;
  const fit = Math.max(1, Math.min(few, Math.floor((grid.clientWidth + gap) / (narrowest + gap))));
  // Uses as few rows as possible, with equal numbers of charts if possible, so that no place stays
  // empty.
  grid.style.setProperty("--columns", printed ? 2 : Math.max(1, Math.ceil(few / Math.ceil(few / fit))));
  for (const chart of shownCharts) {
    const style = getComputedStyle(chart.figure);
    chart.width = printed ? (chart.broad ? onPaper.broad : onPaper.narrow)
      : Math.max(240, Math.floor(chart.figure.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight)));
  }
  shownCharts.forEach(drawOne);
  kbench.emphasise(null);
};
kbench.drawCharts = () => {
  const grid = document.getElementById("charts");
  shownCharts = kbench.charts.filter((chart) => chart.holds());
  for (const chart of shownCharts) {
    chart.figure = kbench.make("figure", { id: chart.id, class: chart.broad && "broad" });
    grid.append(chart.figure);
  }
  drawAll();
  let width = grid.clientWidth;
  new ResizeObserver(() => {
    if (grid.clientWidth === width || printed) return;
    width = grid.clientWidth;
    clearTimeout(later);
    later = setTimeout(() => { later = null; drawAll(); }, 120);
  }).observe(grid);
  kbench.onState(() => kbench.emphasise(null));
};
kbench.repaint = () => { for (const chart of shownCharts) for (const paint of chart.paints) paint(); };
kbench.shownCharts = () => shownCharts;
kbench.isPrinted = () => printed;
kbench.isDrawingLater = () => later !== null;
kbench.printCharts = (now) => {
  if (now === printed) return;
  printed = now;
  if (shownCharts.length > 0) drawAll();
};
