// SPDX-License-Identifier: MIT
// The table of candidates. Only visible rows are elements, so 100,000 rows are as fast as fifty.
"use strict";

const rowHeight = 28;
// `show`: a row's text with its explanation, if it is not only the text.
const textColumn = (title, column, texts, label, show) => {
  // Texts are sorted once; rows are then compared by their texts' positions.
  const order = texts.map((_, i) => i).sort((a, b) => label(texts[a]).localeCompare(label(texts[b]), "en", { numeric: true }));
  const rank = new Array(texts.length);
  order.forEach((text, place) => { rank[text] = place; });
  return { title, text: (row) => label(texts[column[row]]), rank: (row) => rank[column[row]], show };
};
const numberColumn = (title, values, format) =>
  ({ title, number: true, text: (row) => format(values[row], row), rank: (row) => values[row] });

const tableColumns = () => {
  const rows = kbench.rows, plain = (text) => text;
  const all = [
    textColumn("outcome", rows.outcome, rows.outcomes, (outcome) => outcome.label,
      (row) => kbench.term("outcome", rows.outcomes[rows.outcome[row]].name, rows.outcomes[rows.outcome[row]].label)),
    textColumn("problem", rows.problem, rows.problems, plain),
    textColumn("model", rows.model, rows.models, plain),
    numberColumn("sample", rows.sample, String),
    numberColumn(kbench.data.time_label, rows.time_ms, kbench.duration),
  ];
  if (!kbench.data.on_cpu) {
    all.push(numberColumn(kbench.data.baseline || "baseline", rows.baseline_ms, kbench.duration),
      numberColumn("speedup", rows.speedup, (value, row) => kbench.factor(value) +
        (value === null || rows.lo[row] === null ? "" : " (" + kbench.ratio(rows.lo[row]) + "–" + kbench.ratio(rows.hi[row]) + ")")));
  }
  if (rows.limit_share.some((share) => share !== null))
    all.push(numberColumn("of limit", rows.limit_share, kbench.percent));
  all.push(textColumn("class", rows.class, rows.classes, plain),
    textColumn("cause", rows.cause, rows.causes, plain),
    textColumn("flags", rows.flags, rows.flag_sets, plain, (row) => rows.flag_sets[rows.flags[row]].split(", ")
      .flatMap((flag, i) => [i > 0 ? ", " : "", kbench.term("flag", flag, flag)])));
  return all;
};

kbench.drawTable = () => {
  const section = document.getElementById("candidates");
  const columns = tableColumns();
  let shown = [], current = 0, drawn = [-1, -1], printing = false;

  const count = kbench.make("span", { class: "soft", role: "status" });
  const search = kbench.make("input", { type: "search", placeholder: "Search: problem, model, cause, flag; * for anything  ( / )",
    "aria-label": "Search the candidates", value: kbench.state.search,
    oninput: () => kbench.change({ search: search.value }) });
  const choice = (name, title, texts, label, value) => {
    const options = texts.map((text) => [value(text), kbench.short(label(text), 60)]);
    const select = kbench.make("select", { "aria-label": title, onchange: () => kbench.change({ [name]: select.value }) },
      kbench.make("option", { value: "" }, title + ": all"),
      options.map(([key, text]) => kbench.make("option", { value: key }, text)));
    return select;
  };
  const plain = (text) => text, rows = kbench.rows;
  const present = new Set(rows.outcome);
  const selects = {
    outcome: choice("outcome", "outcome", rows.outcomes.filter((_, i) => present.has(i)), (o) => o.label, (o) => o.name),
    model: choice("model", "model", rows.models, plain, plain),
    level: choice("level", "level", [...new Set(rows.level)].sort((a, b) => a - b).map(String), plain, plain),
    class: choice("class", "class", rows.classes, plain, plain),
    cause: choice("cause", "cause", rows.causes.filter((cause) => cause !== ""), plain, plain),
  };
  const range = kbench.make("button", { type: "button", class: "chosen", hidden: true, onclick: () => kbench.change({ range: "" }) });
  const clear = kbench.make("button", { type: "button", onclick: () => kbench.change(kbench.noFilter) }, "Clear");

  const headers = columns.map((column) => kbench.make("th", { scope: "col", class: column.number && "n" },
    kbench.make("button", { type: "button", onclick: () => {
      const again = kbench.state.sort === column.title;
      kbench.change({ sort: again && kbench.state.descending ? "" : column.title,
        descending: again ? !kbench.state.descending : false });
    } }, column.title), kbench.make("span", { class: "printed" }, column.title)));
  const body = kbench.make("tbody");
  const box = kbench.make("div", { class: "grid-box", tabindex: "0", role: "group",
    "aria-label": "Candidates; arrow keys move, Enter opens" },
    kbench.make("table", {}, kbench.make("thead", {}, kbench.make("tr", {}, headers)), body));
  section.append(kbench.make("h2", { id: "candidates-heading", tabindex: "-1" }, "Candidates"),
    kbench.make("div", { class: "filters" }, search, Object.values(selects), range, clear, count), box);

  const line = (row, place) => {
    const cells = columns.map((column, i) => kbench.make("td", { class: column.number && "n" },
      i === 0 ? kbench.make("span", { class: "dot", style: "background:" + kbench.outcomeColor(kbench.rows.outcome[row]) }) : null,
      column.show ? column.show(row) : column.text(row)));
    return kbench.make("tr", { "data-row": row, class: place === current && "current",
      "aria-current": place === current && "true", onclick: () => { current = place; kbench.open(row); } }, cells);
  };
  const space = (height) => kbench.make("tr", { class: "space", "aria-hidden": "true" },
    kbench.make("td", { colspan: columns.length, style: "height:" + height + "px" }));

  const draw = (force) => {
    const inSight = Math.ceil((box.clientHeight || 600) / rowHeight);
    const first = printing ? 0 : Math.max(0, Math.min(Math.floor(box.scrollTop / rowHeight) - 10, shown.length));
    const past = printing ? Math.min(500, shown.length) : Math.min(shown.length, first + inSight + 20);
    if (!force && first === drawn[0] && past === drawn[1]) return;
    drawn = [first, past];
    const lines = [];
    if (first > 0) lines.push(space(first * rowHeight));
    for (let place = first; place < past; ++place) lines.push(line(shown[place], place));
    if (past < shown.length && !printing) lines.push(space((shown.length - past) * rowHeight));
    if (shown.length === 0) lines.push(kbench.make("tr", {}, kbench.make("td", { colspan: columns.length },
      kbench.rows.count === 0 ? "The run has no records yet." : "No candidate matches the filters.")));
    if (printing && past < shown.length) lines.push(kbench.make("tr", {}, kbench.make("td", { colspan: columns.length },
      "and " + (shown.length - past).toLocaleString("en") + " more, not printed")));
    body.replaceChildren(...lines);
  };
  box.addEventListener("scroll", () => draw(false), { passive: true });
  // Waits for the next animation frame, because drawing rows may change the observed height.
  new ResizeObserver(() => requestAnimationFrame(() => draw(false))).observe(box);

  const refresh = () => {
    const state = kbench.state;
    if (search.value !== state.search) search.value = state.search;
    for (const [name, select] of Object.entries(selects)) select.value = state[name];
    range.textContent = kbench.rangeText() + " ×";
    range.setAttribute("aria-label", "Remove the filter: " + kbench.rangeText());
    range.hidden = kbench.rangeText() === "";
    shown = kbench.filtered();
    const column = columns.find((one) => one.title === state.sort);
    if (column) {
      const sign = state.descending ? -1 : 1;
      shown.sort((a, b) => {
        const x = column.rank(a), y = column.rank(b);
        // Rows without a value come last in both directions.
        if (x === null || y === null) return (x === null) - (y === null) || a - b;
        return sign * (x - y) || a - b;
      });
    }
    headers.forEach((header, i) => {
      const sorted = columns[i].title === state.sort;
      header.setAttribute("aria-sort", sorted ? (state.descending ? "descending" : "ascending") : "none");
      header.firstChild.textContent = columns[i].title + (sorted ? (state.descending ? " ▼" : " ▲") : "");
    });
    count.textContent = shown.length === kbench.rows.count ? kbench.counted(shown.length, "candidate")
      : shown.length.toLocaleString("en") + " of " + kbench.counted(kbench.rows.count, "candidate");
    current = Math.max(0, state.open === null ? Math.min(current, shown.length - 1) : shown.indexOf(state.open));
    draw(true);
  };
  const inView = () => {
    const top = current * rowHeight, head = 34;
    if (top < box.scrollTop) box.scrollTop = top;
    else if (top + rowHeight + head > box.scrollTop + box.clientHeight) box.scrollTop = top + rowHeight + head - box.clientHeight;
    draw(true);
  };
  const sayCurrent = () => {
    if (shown.length === 0) return;
    kbench.say(kbench.candidateName(shown[current]) + ", " + columns.filter((column) => !["problem", "model", "sample"].includes(column.title))
      .map((column) => [column.title, column.text(shown[current])]).filter(([, text]) => text !== "" && text !== kbench.none)
      .map(([title, text]) => title + " " + text).join(", "));
  };
  box.addEventListener("keydown", (event) => {
    const page = Math.max(1, Math.floor(box.clientHeight / rowHeight) - 2);
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -shown.length, End: shown.length };
    if (event.key in steps) {
      current = Math.max(0, Math.min(shown.length - 1, current + steps[event.key]));
      inView();
      sayCurrent();
    } else if (event.key === "Enter" && event.target === box && shown.length > 0) {
      kbench.open(shown[current]);
    } else {
      return;
    }
    event.preventDefault();
  });
  addEventListener("keydown", (event) => {
    const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement.tagName);
    if (event.key === "/" && !typing && kbench.state.open === null) {
      event.preventDefault();
      search.focus();
    }
  });
  kbench.printTable = (now) => { printing = now; draw(true); };
  kbench.focusTable = () => box.focus({ preventScroll: true });
  // The candidate `step` rows after another in the table's current order; null if there is none.
  kbench.neighbour = (row, step) => {
    const place = shown.indexOf(row);
    return place < 0 || shown[place + step] === undefined ? null : shown[place + step];
  };
  // Filters by a choice made elsewhere on the page, and moves to the table.
  kbench.filterTo = (changes) => {
    kbench.change(Object.assign({}, kbench.noFilter, changes), true);
    const heading = document.getElementById("candidates-heading");
    heading.scrollIntoView();
    heading.focus({ preventScroll: true });
    kbench.say(count.textContent);
  };
  kbench.onState(refresh);
  refresh();
};
