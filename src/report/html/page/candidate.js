// SPDX-License-Identifier: MIT
// The panel with everything about one candidate; it keeps the keyboard's focus while it is open.
"use strict";

let opened = null, focusBefore = null;
const panel = document.getElementById("panel");

const panelHead = (row) => {
  const outcome = kbench.rows.outcomes[kbench.rows.outcome[row]], cause = kbench.rows.causes[kbench.rows.cause[row]];
  const step = (label, by) => {
    const to = kbench.neighbour(row, by);
    return kbench.make("button", { type: "button", "data-step": by, disabled: to === null,
      onclick: () => kbench.change({ open: to }) }, label);
  };
  return [kbench.make("div", { class: "top" }, kbench.make("h2", { id: "panel-heading" }, kbench.short(kbench.candidateName(row), 300)),
    kbench.make("span", { class: "status " + (outcome.good ? "good" : "bad") },
      outcome.label + (cause ? ", " + kbench.short(cause, 120) : "")),
    kbench.make("span", { class: "steps" }, step("Previous", -1), step("Next", 1),
      kbench.make("button", { type: "button", class: "close", onclick: () => kbench.change({ open: null }, true) }, "Close (Esc)"))),
  cause.length > 120 ? kbench.make("p", {}, cause) : null];
};

const panelBody = (row) => {
  const page = kbench.detailsOf(row), record = page.record || {}, details = page.details || {};
  const message = record.message || page.message;
  const meaning = kbench.meaning("outcome", kbench.rows.outcomes[kbench.rows.outcome[row]].name);
  return [meaning ? kbench.make("p", { class: "soft" }, meaning) : null, message ? kbench.make("p", { class: "bad" }, message) : null,
    page.record ? null : kbench.make("p", { class: "notice" },
      "The page has only the row, cause and message of this candidate; kbench show has the rest."),
    page.cut && page.cut.length > 0 ? kbench.make("p", { class: "soft" }, "Shortened here: " + page.cut.join(", ") + ".") : null,
    page.details_note ? kbench.make("p", { class: "soft" }, "No details here: " + page.details_note + ".") : null,
    ...(page.record ? [factsOf(record, row), timesOf(record), stripsOf(record, details.raw_ms), findingsOf(record), trialsOf(record),
      logsOf(details), sourceOf(page), profileOf(record), phasesOf(details.phases_s)].flat() : [rowFactsOf(row)])];
};

kbench.drawCandidate = () => {
  const row = kbench.state.open;
  if (row === opened) return;
  opened = row;
  if (row === null) {
    panel.hidden = true;
    const back = focusBefore && focusBefore.isConnected && focusBefore !== document.body;
    if (back) focusBefore.focus();
    else kbench.focusTable();
    return;
  }
  const active = document.activeElement, stepped = panel.contains(active) ? active.dataset.step : undefined;
  if (!panel.contains(active)) focusBefore = active;
  kbench.tip(null, null);
  panel.replaceChildren(...panelHead(row).concat(panelBody(row)).filter((part) => part !== null));
  panel.hidden = false;
  panel.scrollTop = 0;
  const marked = panel.querySelector("pre.source .marked");
  if (marked) marked.parentElement.scrollTop = Math.max(0, marked.offsetTop - marked.parentElement.offsetTop - 60);
  const again = stepped && panel.querySelector("[data-step='" + stepped + "']:not([disabled])");
  (again || panel.querySelector(".close")).focus();
};

// Tab cycles within the panel, even if a click outside has moved the focus.
const tabInPanel = (event) => {
  const stops = [...panel.querySelectorAll("button, a[href], summary, [tabindex='0']")]
    .filter((stop) => !stop.disabled && stop.getClientRects().length > 0);
  const first = stops[0], last = stops[stops.length - 1], at = document.activeElement;
  const leaves = !panel.contains(at) || (event.shiftKey ? at === first : at === last);
  if (!leaves) return;
  event.preventDefault();
  (event.shiftKey ? last : first).focus();
};
addEventListener("keydown", (event) => {
  if (kbench.state.open === null) return;
  if (event.key === "Escape") kbench.change({ open: null }, true);
  if (event.key === "Tab") tabInPanel(event);
});
