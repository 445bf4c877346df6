// SPDX-License-Identifier: MIT
// Puts the page together.
"use strict";

const darkWanted = matchMedia("(prefers-color-scheme: dark)");
let darkNow = darkWanted.matches;
const setTheme = (dark) => {
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  kbench.repaint();
};
setTheme(darkNow);

kbench.drawHead(() => {
  darkNow = !darkNow;
  setTheme(darkNow);
});
kbench.drawSummary();
if (typeof d3 === "undefined") {
  document.getElementById("charts").append(kbench.make("p", { class: "notice" },
    "There are no charts here: this kbench was built without D3 (Debian's node-d3)."));
}
kbench.drawFailures();
kbench.drawTable();
// Last, because the page has its final width only now.
if (typeof d3 !== "undefined") kbench.drawCharts();
kbench.onState(kbench.drawCandidate);
kbench.drawCandidate();

darkWanted.addEventListener("change", (event) => { darkNow = event.matches; setTheme(darkNow); });
// In print the page is light, folded texts are open, and the table does not scroll.
let onPaperNow = false;
const printing = (now) => {
  if (now === onPaperNow) return;
  onPaperNow = now;
  setTheme(now ? false : darkNow);
  for (const group of document.querySelectorAll("#failures details, details.long")) group.open = now;
  kbench.printCharts(now);
  kbench.printTable(now);
};
matchMedia("print").addEventListener("change", (event) => printing(event.matches));
// beforeprint comes before the browser counts the pages; a media query's change comes too late.
addEventListener("beforeprint", () => printing(true));
addEventListener("afterprint", () => printing(false));
document.documentElement.dataset.ready = "1";
