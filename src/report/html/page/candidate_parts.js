// SPDX-License-Identifier: MIT
// The parts of a candidate's panel.
"use strict";

const heading = (text) => kbench.make("h3", {}, text);
// A table that scrolls if it is too wide, by pointer and keyboard.
const inWide = (table) => kbench.make("div", { class: "wide", tabindex: "0", role: "group", "aria-label": "Table" }, table);
const withInterval = (value, low, high, format) => format(value) +
  (low === null || low === undefined ? "" : " (" + format(low) + "–" + format(high) + ")");

const factsOf = (record, row) => {
  const facts = [];
  const add = (label, text) => {
    if (text !== null && text !== undefined && text !== "" && !(Array.isArray(text) && text.length === 0))
      facts.push([label, Array.isArray(text) ? text.join(", ") : String(text)]);
  };
  add("candidate", record.candidate);
  add("kind", record.kind);
  add("class", record.class);
  for (const flag of record.flags || []) add("flag", [flag, kbench.meaning("flag", flag)].filter(Boolean).join(": "));
  if (record.sizes) add("sizes", Object.entries(record.sizes).map(([name, value]) => name + "=" + value));
  add("precision", record.precision);
  add("device", record.device);
  if (record.compile) {
    add("compiled", record.compile.way + " in " + kbench.duration(record.compile.seconds * 1e3) +
      (record.compile.cached ? ", from the cache" : ""));
    add("reason for nvcc", record.compile.fallback);
  }
  if (record.weights) {
    const lacks = record.weights === "as_built" ? "different from the reference: "
      : "no place for ";
    add("weights", record.weights.replaceAll("_", " ") +
      (record.unplaced.length ? "; " + lacks + record.unplaced.join(", ") : ""));
  }
  add("errors like those of", record.correct_at);
  add("reused from", record.reused_from);
  add("launches", record.launches);
  if (record.ended) add("judged", new Date(record.ended * 1000).toISOString().slice(0, 19).replace("T", " ") + " UTC");
  add("took", kbench.duration((kbench.rows.seconds[row] || 0) * 1e3));
  add("hash", (record.candidate_hash || "").slice(0, 16));
  return kbench.make("dl", { class: "run_summary" }, facts.map(([label, text]) =>
    kbench.make("div", {}, kbench.make("dt", {}, label), kbench.make("dd", {}, text))));
};

// The table's values, for candidates without details on the page.
const rowFactsOf = (row) => {
  const rows = kbench.rows;
  const facts = [["level", String(rows.level[row])], [kbench.data.time_label, kbench.duration(rows.time_ms[row])],
    [kbench.data.baseline || "baseline", kbench.duration(rows.baseline_ms[row])],
    ["speedup", withInterval(rows.speedup[row], rows.lo[row], rows.hi[row], kbench.factor)],
    ["limit", rows.limit_ms[row] === null ? kbench.none : kbench.percent(rows.limit_share[row]) + " of the device's limit, " + kbench.duration(rows.limit_ms[row])],
    ["class", rows.classes[rows.class[row]]], ["trust", rows.trusts[rows.trust[row]]], ["judge", rows.judges[rows.judge[row]]],
    ["flags", rows.flag_sets[rows.flags[row]]], ["took", rows.seconds[row] === null ? "" : kbench.duration(rows.seconds[row] * 1e3)]];
  return kbench.make("dl", { class: "run_summary" }, facts.filter(([, text]) => text !== "" && text !== kbench.none)
    .map(([label, text]) => kbench.make("div", {}, kbench.make("dt", {}, label), kbench.make("dd", {}, text))));
};

// A column for each subject, because there are few subjects with many numbers each.
const timesOf = (record) => {
  const timing = record.timing;
  if (!timing) return [];
  const ms = kbench.duration, sides = Object.entries(timing.sides);
  const numbers = [["median", (side) => ms(side.median_ms)],
    ["95 %", (side) => (side.lo_ms === null || side.lo_ms === undefined ? kbench.none : ms(side.lo_ms) + " – " + ms(side.hi_ms))],
    ["mean", (side) => ms(side.mean_ms)], ["std", (side) => ms(side.std_ms)], ["min", (side) => ms(side.min_ms)],
    ["max", (side) => ms(side.max_ms)], ["n", (side) => String(side.count)],
    ["caller's time", (side) => ms(side.wall_ms)], ["span", (side) => ms(side.span_ms)], ["busy", (side) => ms(side.busy_ms)],
    ["clock", (side) => (side.clock_mhz ? Math.round(side.clock_mhz) + " MHz" : kbench.none)]];
  const rows = numbers.map(([title, text]) => [title].concat(sides.map(([, side]) => text(side))))
    .filter((cells) => cells.slice(1).some((text) => text !== kbench.none));
  const parts = [heading("Times: " + timing.method + ", " + timing.trust),
    inWide(kbench.table([""].concat(sides.map(([name]) => name)), rows,
      [false].concat(sides.map(() => true))))];
  const callerOf = (name) => (timing.sides[name] || {}).wall_ms;
  const notes = (record.speedup || []).map((over) => {
    const caller = callerOf(over.baseline) > 0 && callerOf("candidate") > 0 ? callerOf(over.baseline) / callerOf("candidate") : null;
    return withInterval(over.value, over.lo, over.hi, kbench.factor) + " over " + over.baseline +
      (over.relation ? ": " + over.relation : "") + (over.stored ? ", whose time is from an earlier run" : "") +
      (caller ? "; caller's speedup " + kbench.factor(caller) : "");
  });
  if (record.sol && record.sol.limit_ms) notes.push("the device's limit is " +
    ms(record.sol.limit_ms) + ", by its " + record.sol.limited_by + ": " + kbench.percent(record.sol.share) + " reached");
  return parts.concat(kbench.make("ul", {}, notes.map((note) => kbench.make("li", {}, note))));
};

// The raw measurements of each subject as a strip, with the median and its interval.
const stripsOf = (record, raw) => {
  const sides = Object.entries(raw || {}).filter(([, values]) => Array.isArray(values) && values.length > 0);
  if (sides.length === 0 || typeof d3 === "undefined") return [];
  // The panel's width in pixels, so that the chart's text is as large as the panel's.
  const width = Math.max(260, Math.min(760, innerWidth - 60)), rowOf = 46, left = 30, height = sides.length * rowOf + 30;
  const values = sides.flatMap(([, list]) => list.filter((value) => value > 0));
  const x = d3.scaleLog(kbench.logDomain(values), [left, width - 30]);
  const svg = d3.create("svg").attr("viewBox", "0 0 " + width + " " + height).attr("class", "strip").style("width", width + "px").attr("role", "img")
    .attr("aria-label", "Raw measurements: " + sides.map(([name, list]) => name + " " + list.length).join(", "));
  const axis = d3.axisBottom(x);
  kbench.logTicks(kbench.roundDuration)(axis, width - left, 64);
  svg.append("g").attr("transform", "translate(0," + sides.length * rowOf + ")").call(axis);
  sides.forEach(([name, list], i) => {
    const y = i * rowOf + rowOf / 2 + 8, color = kbench.seriesColor(i);
    kbench.fitText(svg.append("text").attr("x", 4).attr("y", y - 15), name, width - 20);
    svg.append("path").attr("class", "marks").attr("stroke", color).attr("stroke-opacity", 0.45)
      .attr("d", list.filter((value) => value > 0).map((value) => "M" + x(value) + "," + (y - 8) + "v16").join(""));
    const side = record.timing && record.timing.sides[name];
    if (!side || !(side.median_ms > 0)) return;
    const at = (value) => x(Math.max(value, x.domain()[0]));
    if (side.lo_ms) svg.append("path").attr("stroke", "var(--ink)").attr("stroke-width", 2)
      .attr("d", "M" + at(side.lo_ms) + "," + y + "H" + at(side.hi_ms));
    svg.append("path").attr("stroke", "var(--ink)").attr("stroke-width", 2).attr("d", "M" + at(side.median_ms) + "," + (y - 11) + "v22");
  });
  return [heading("Raw measurements"), svg.node()];
};

const trialsOf = (record) => {
  const trials = record.correctness || [];
  if (trials.length === 0) return [];
  const wrong = trials.filter((trial) => trial.first_wrong);
  const parts = wrong.length === 0 ? [] : [heading("First wrong elements"), inWide(kbench.table(
    ["inputs", "trial", "output", "index", "expected", "got"],
    wrong.map((trial) => [trial.distribution, String(trial.trial), String(trial.first_wrong.output),
      "[" + trial.first_wrong.index.join(", ") + "]", trial.first_wrong.expected, trial.first_wrong.got]),
    [false, true, true, true, true, true]))];
  return parts.concat(heading("Trials"), inWide(kbench.table(
    ["inputs", "trial", "max abs", "max rel", "vs eager", "allclose at", "wrong"],
    trials.map((trial) => [trial.distribution + (trial.sizes ? ", " + trial.sizes : ""), String(trial.trial),
      kbench.number(trial.max_abs_error), kbench.number(trial.max_rel_error), kbench.number(trial.error_ratio),
      kbench.number(trial.allclose_at), String(trial.wrong_elements)]),
    [false, true, true, true, true, true, true])));
};

const profileOf = (record) => {
  if (!record.profile || record.profile.length === 0) return [];
  if (record.profile[0].gpu) {
    const whole = record.profile.reduce((total, kernel) => total + kernel.gpu.ms, 0);
    return [heading("Profile"), inWide(kbench.table(
      ["kernel", "grid", "block", "launches", "time", "fraction", "registers", "shared kB",
        "occupancy"],
      record.profile.map((kernel) => [kernel.kernel, kernel.grid.join("×"), kernel.block.join("×"), String(kernel.launches),
        kbench.duration(kernel.gpu.ms), whole > 0 ? Math.round(100 * kernel.gpu.ms / whole) + " %" : kbench.none,
        String(kernel.gpu.registers), kbench.number((kernel.gpu.static_shared_bytes + kernel.gpu.dynamic_shared_bytes) / 1024),
        typeof kernel.gpu.occupancy === "number" ? Math.round(100 * kernel.gpu.occupancy) + " %" : kbench.none]),
      [false, false, false, true, true, true, true, true, true]))];
  }
  const sum = (counts, of) => Object.values(counts || {}).reduce((total, count) => total + of(count), 0);
  return [heading("Profile"), inWide(kbench.table(
    ["kernel", "grid", "block", "launches", "warp instructions", "flops", "global MB", "conflicts"],
    record.profile.map((kernel) => [kernel.kernel, kernel.grid.join("×"), kernel.block.join("×"), String(kernel.launches),
      kbench.number(sum(kernel.instructions, (pair) => pair[0])),
      kbench.number(sum(kernel.flops, (count) => count) + sum(kernel.tensor_flops, (count) => count)),
      kbench.number(kernel.global.bytes / 1e6), kbench.number(kernel.shared.conflicts)]),
    [false, false, false, true, true, true, true, true]))];
};

const phasesOf = (phases) => {
  const parts = Object.entries(phases || {}).filter(([, seconds]) => seconds > 0).sort((a, b) => b[1] - a[1]);
  const total = parts.reduce((sum, [, seconds]) => sum + seconds, 0);
  if (total <= 0) return [];
  const named = parts.filter(([, seconds]) => seconds / total >= 0.02);
  return [heading("Where its " + kbench.duration(total * 1e3) + " went"),
    kbench.make("div", { class: "bar", role: "img", "aria-label": named.map(([name, s]) => name + " " + kbench.duration(s * 1e3)).join(", ") },
      named.map(([name, seconds], i) => kbench.make("span", { title: name + " " + kbench.duration(seconds * 1e3),
        style: "width:" + 100 * seconds / total + "%;background:" + kbench.seriesColor(i) }))),
    kbench.make("ul", { class: "legend" }, named.map(([name, seconds], i) => kbench.make("li", {},
      kbench.make("i", { style: "background:" + kbench.seriesColor(i) }), name + " " + kbench.duration(seconds * 1e3))))];
};

const logsOf = (details) => ["ncu", "ncu_failed", "compiler_log", "problem_log", "log"].filter((key) => details[key]).flatMap((key) =>
  [heading({ ncu: "Nsight Compute", ncu_failed: "Nsight Compute failed", compiler_log: "Compiler",
    problem_log: "Problem", log: "Log" }[key]),
    kbench.make("pre", { tabindex: "0", class: "log" }, details[key])]);

const sourceOf = (page) => {
  if (!page.source) return page.source_note ? [kbench.make("p", { class: "soft" }, "No source here: " + page.source_note + ".")] : [];
  return [heading("Source: " + page.source.name), kbench.sourceView(page.source, page.annotations || []),
    page.source.cut ? kbench.make("p", { class: "soft" }, "The rest is left out here.") : null];
};

const findingsOf = (record) => {
  const found = record.findings || [];
  if (found.length === 0) return [];
  return [heading("Findings"), kbench.make("ul", {}, found.map((finding) => kbench.make("li", {},
    finding.kind + ": " + finding.message + (finding.count > 1 ? " (" + finding.count + " times)" : ""))))];
};

