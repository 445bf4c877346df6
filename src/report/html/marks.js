// SPDX-License-Identifier: MIT
// The frame of a chart, and marks that several charts have.
"use strict";
kbench.size = { width: 560, height: 320, left: 68, right: 14, top: 12, bottom: 44 };

// A figure with a title, a sentence for who cannot see it, and its SVG. `broad`: over the whole
// width.
kbench.figure = (id, title, note, sentence, options) => {
  const chosen = Object.assign({ height: kbench.size.height, width: kbench.size.width, broad: false,
    box: false }, options);
  const figure = kbench.make("figure", { id, class: chosen.broad && "broad" },
    kbench.make("figcaption", {}, title, note && kbench.make("small", {}, note)));
  document.getElementById("charts").append(figure);
  const holder = chosen.box ? kbench.make("div", { class: "box", tabindex: "0", role: "group",
    "aria-label": title }) : figure;
  if (chosen.box) figure.append(holder);
  const svg = d3.select(holder).append("svg").attr("role", "img").attr("aria-label", sentence)
    .attr("viewBox", "0 0 " + chosen.width + " " + chosen.height);
  return { figure, svg, width: chosen.width, height: chosen.height };
};

kbench.legend = (figure, entries) => {
  if (entries.length < 2) return;
  figure.append(kbench.make("ul", { class: "legend" }, entries.map(([label, color]) =>
    kbench.make("li", {}, kbench.make("i", { style: "background:" + color }), label))));
};

kbench.axes = (chart, x, y, xTitle, yTitle, xTicks, yTicks) => {
  const { left, right, top, bottom } = kbench.size;
  const low = chart.height - bottom;
  const grid = d3.axisLeft(y).tickSize(-(chart.width - left - right)).tickFormat("");
  if (yTicks) yTicks(grid);
  chart.svg.append("g").attr("class", "grid").attr("transform", "translate(" + left + ",0)").call(grid);
  const xAxis = d3.axisBottom(x), yAxis = d3.axisLeft(y);
  if (xTicks) xTicks(xAxis);
  if (yTicks) yTicks(yAxis);
  chart.svg.append("g").attr("transform", "translate(0," + low + ")").call(xAxis);
  chart.svg.append("g").attr("transform", "translate(" + left + ",0)").call(yAxis);
  chart.svg.append("text").attr("class", "soft").attr("text-anchor", "middle")
    .attr("x", (left + chart.width - right) / 2).attr("y", chart.height - 8).text(xTitle);
  chart.svg.append("text").attr("class", "soft").attr("text-anchor", "middle")
    .attr("transform", "translate(13," + (top + low) / 2 + ")rotate(-90)").text(yTitle);
};

// Few ticks on a logarithmic axis, with a label each.
kbench.logTicks = (format) => (axis) => {
  const [low, high] = axis.scale().domain();
  const steps = Math.log10(high / low) < 1.6 ? [1, 2, 5] : Math.log10(high / low) < 4 ? [1, 3] : [1];
  const values = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); ++power) {
    for (const step of steps) {
      const value = step * 10 ** power;
      if (value >= low * 0.999 && value <= high * 1.001) values.push(value);
    }
  }
  axis.tickValues(values);
  if (axis.tickFormat() === null) axis.tickFormat(format);
};

// The domain of positive values on a logarithmic axis, with some room.
kbench.logDomain = (values) => {
  const [low, high] = d3.extent(values.filter((value) => value > 0));
  return low === undefined ? [0.1, 10] : [low / 1.25, high * 1.25];
};

// A picture of many marks: as elements they would make the page slow. `draw` gets a canvas of two
// points for each unit, and the colour that a style stands for.
kbench.picture = (chart, x, y, width, height, draw) => {
  const canvas = document.createElement("canvas");
  // Browsers have no canvas beyond some size.
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
  kbench.onTheme(paint);
};
const repaints = [];
kbench.onTheme = (paint) => repaints.push(paint);
kbench.repaint = () => { for (const paint of repaints) paint(); };

// Text at the pointer, and what a click does, for an element of d3.
kbench.says = (selection, text, click) => {
  selection.on("mousemove", (datum) => kbench.tip(d3.event, text(datum)))
    .on("mouseleave", () => kbench.tip(null, null));
  if (click) selection.classed("hit", true).on("click", click);
};
