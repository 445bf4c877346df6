#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Looks at pages of `kbench report --format html` in a real browser.

page_test.py PAGE.html… [--screenshots DIR] [--large]: fails with a sentence for the first thing that
is not as it should be. With --kbench KBENCH it has that write the pages of page_runs.py. Needs
Chromium, its driver and selenium (Debian: chromium, chromium-driver, python3-selenium); exits with 77
where they are missing.
"""

import argparse
import concurrent.futures
import csv
import io
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as xml

import page_runs
from page_browser import TROUBLE, By, Page, Wrong, browser, check, close, until
from page_keys import chart_keys, panel_keys
from page_looks import highlighting, long_texts, looks
from selenium.webdriver.common.keys import Keys

CHARTS = ["chart-fast-p", "chart-at-one", "chart-at-k", "chart-speedups", "chart-times", "chart-causes",
          "chart-timeline", "chart-outcomes"]
GPU_CHARTS = {"chart-fast-p", "chart-speedups", "chart-times"}
BROWSERS = 2


def charts(page):
    rows = page.run("const r = kbench.rows; return {timed: r.speedup.some((s) => s !== null),"
                    "ended: r.ended.some((s) => s !== null), at_one: kbench.data.charts.at_k.length,"
                    "at_k: kbench.data.charts.at_k.some((curve) => curve.k.length > 1),"
                    "fast_p: (kbench.data.charts.fast_p || []).length}")
    for chart in CHARTS:
        expected = page.count > 0
        if chart in GPU_CHARTS:
            expected = rows["fast_p"] > 0 if chart == "chart-fast-p" else rows["timed"]
        if chart == "chart-at-one":
            expected = rows["at_one"] > 0
        if chart == "chart-at-k":
            expected = rows["at_k"]
        if chart == "chart-timeline":
            expected = rows["ended"]
        found = page.run("return document.getElementById(arguments[0]) !== null", chart)
        check(found == expected, "%s is %s" % (chart, "missing" if expected else "there without data"))
        if not found:
            continue
        marks = page.run("return document.querySelectorAll('#' + arguments[0] + ' :is(.marks, .curve)').length", chart)
        check(marks > 0, "%s has no marks" % chart)
        sane = page.run("return ![...document.querySelectorAll('#' + arguments[0] + ' svg *')].some((e) =>"
                        "[...e.attributes].some((a) => !a.value.startsWith('data:') &&"
                        "/NaN|undefined|Infinity/.test(a.value)))", chart)
        check(sane, "%s has marks at no place (NaN)" % chart)
        check(page.run("return document.querySelector('#' + arguments[0] + ' svg').getAttribute('aria-label').length",
                       chart) > 10, "%s says nothing to who cannot see it" % chart)


# What the button of one chart would save: [the file's name, its text]. The browser's own downloads
# are left out: on a busy machine they may get lost.
SAVED = """
  const [chart, kind, done] = arguments;
  const [click, create] = [HTMLAnchorElement.prototype.click, URL.createObjectURL];
  let blob;
  URL.createObjectURL = (given) => { blob = given; return create.call(URL, given); };
  HTMLAnchorElement.prototype.click = function () { blob.text().then((text) => done([this.download, text])); };
  try {
    document.querySelector('#' + chart + ' .save.' + kind).click();
  } finally {
    [HTMLAnchorElement.prototype.click, URL.createObjectURL] = [click, create];
  }
"""


def saved(page):
    """Each chart's SVG file has the page's marks, and their styles as attributes; its CSV file has rows of one width."""
    for chart in page.run("return kbench.shownCharts().map((chart) => chart.id)"):
        texts = {}
        for kind in ["svg", "csv"]:
            name, texts[kind] = page.driver.execute_async_script(SAVED, chart, kind)
            check(name == chart.replace("chart-", "") + "." + kind, "%s is saved as %s" % (chart, name))
        rows = list(csv.reader(io.StringIO(texts["csv"], newline="")))
        check(len(rows) > 1 and {len(row) for row in rows} == {len(rows[0])}, "the data of %s have the rows %s" % (chart, rows[:3]))
        check(not any(cell.startswith("=") or "\x1b" in cell for row in rows for cell in row), "the data of %s have what a program would obey" % chart)
        elements = list(xml.fromstring(texts["svg"]).iter())
        found = [[e.get("fill"), e.get("stroke", "none")] for e in elements
                 if {"marks", "curve"} & set(e.get("class", "").split())]
        shown = page.run("return [...document.querySelectorAll('#' + arguments[0] + ' svg :is(.marks, .curve)')]"
                         ".map((e) => getComputedStyle(e)).map((style) => [style.fill, style.stroke])"
                         ".filter(([fill, stroke]) => fill !== 'rgba(0, 0, 0, 0)' || stroke !== 'none')", chart)
        check(found == shown, "the file of %s has the marks %s, not %s" % (chart, found, shown))
        check(found or any(e.tag.endswith("}image") for e in elements), "the file of %s shows nothing" % chart)
        title = page.run("return document.querySelector('#' + arguments[0] + ' figcaption').childNodes[1].data", chart)
        check(title in [e.text for e in elements], "the file of %s has no title" % chart)


def table(page):
    count, first = page.shown()
    check(count == page.count, "the table says %d of %d candidates" % (count, page.count))
    if page.count == 0:
        return
    drawn = page.run("return document.querySelectorAll('#candidates tbody tr[data-row]').length")
    check(drawn == page.count if page.count < 30 else drawn >= 20, "%d rows are drawn" % drawn)
    header = page.driver.find_elements(By.CSS_SELECTOR, "#candidates thead button")
    sample = next(button for button in header if button.text.startswith("sample"))
    sample.click()
    sample.click()
    most = page.run("return Math.max(...kbench.rows.sample)")
    top = page.run("return kbench.rows.sample[arguments[0]]", page.shown()[1][0])
    check(top == most, "sorted by sample, the first row has %d and the largest is %d" % (top, most))
    check(page.run("return document.querySelector('#candidates th[aria-sort=descending]') !== null"),
          "the sorted column does not say so")
    sample.click()
    search = page.driver.find_element(By.CSS_SELECTOR, "#candidates input[type=search]")
    page.run("document.activeElement.blur()")
    page.driver.switch_to.active_element.send_keys("/")
    check(page.driver.switch_to.active_element == search, "the key / does not go to the search")
    name = page.run("return kbench.rows.problems[kbench.rows.problem[0]]")
    word = name.split()[0] if name.split() else ""
    if word and "*" not in word and len(word) < 200:
        page.run("kbench.change({search: arguments[0]})", word)
        found, rows = page.shown()
        check(0 < found <= page.count, "searching %r finds %d" % (word, found))
        hits = page.run("return arguments[0].every((row) => [kbench.rows.problems[kbench.rows.problem[row]],"
                        "kbench.rows.models[kbench.rows.model[row]], kbench.rows.causes[kbench.rows.cause[row]],"
                        "kbench.rows.flag_sets[kbench.rows.flags[row]]].join(' ').toLowerCase().includes(arguments[1]))",
                        rows, word.lower())
        check(hits, "searching %r shows what does not hold it" % word)
    page.run("kbench.change({search: 'no such candidate anywhere'})")
    check(page.shown()[0] == 0, "searching nonsense finds something")
    page.run("kbench.change({search: ''})")
    outcome = page.run("return kbench.rows.outcomes[kbench.rows.outcome[0]].name")
    page.run("const s = document.querySelector('select[aria-label=outcome]'); s.value = arguments[0];"
             "s.dispatchEvent(new Event('change'))", outcome)
    expected = page.run("return kbench.rows.outcome.filter((o) => o === kbench.rows.outcome[0]).length")
    check(page.shown()[0] == expected, "the outcome's filter shows %d of %d" % (page.shown()[0], expected))
    page.run("kbench.change({outcome: ''})")


def opening(page):
    if page.count == 0:
        return
    # By the keyboard: the second row, or the only one.
    page.driver.find_element(By.CSS_SELECTOR, ".grid-box").send_keys(
        Keys.HOME, *([Keys.ARROW_DOWN] if page.count > 1 else []), Keys.ENTER)
    opened = page.run("return kbench.state.open")
    check(opened is not None, "Enter opens nothing")
    panel = page.driver.find_element(By.ID, "panel")
    check(panel.is_displayed(), "the panel of the opened candidate is not there")
    check(page.run("return document.getElementById('panel').contains(document.activeElement)"),
          "the focus is not in the panel")
    name = page.run("return kbench.candidateName(arguments[0])", opened)
    check(page.run("return document.querySelector('#panel h2').textContent") == name,
          "the panel is not of the row that was opened")
    page.shot("open")
    page.driver.switch_to.active_element.send_keys(Keys.ESCAPE)
    check(not panel.is_displayed(), "Escape does not close the panel")
    page.driver.back()
    until(panel.is_displayed, "the browser's back button does not open it again")
    page.driver.back()
    until(lambda: not panel.is_displayed(), "the browser's back button does not close it")
    page.load("#open=%d" % (page.count - 1))
    check(page.driver.find_element(By.ID, "panel").is_displayed(), "an address with open= opens nothing")
    page.run("kbench.change({open: null})")
    # Each kind of verdict once, so that each part of the panel is drawn at least once.
    for row in page.run("const seen = new Map(); kbench.rows.outcome.forEach((o, i) => seen.has(o) || seen.set(o, i));"
                        "return [...seen.values()]"):
        page.run("kbench.open(arguments[0])", row)
        check(page.driver.find_element(By.ID, "panel").is_displayed(), "row %d does not open" % row)
        annotations = page.run("const d = kbench.detailsOf(arguments[0]); return d && d.source && d.annotations ? d.annotations.length : 0", row)
        if annotations:
            check(page.run("return document.querySelector('#panel .source .marked') !== null"),
                  "row %d has marks and no marked line" % row)
            page.shot("marked")
    page.run("kbench.change({open: null})")


def brief(page):
    """A candidate whose line is not in the page opens with its row, cause and message."""
    if page.count == 0:
        return
    page.run("kbench.kept = kbench.detailsOf; kbench.detailsOf = () => ({message: 'the message'}); kbench.open(kbench.rows.count - 1)")
    text = page.driver.find_element(By.ID, "panel").text
    last = page.run("const r = kbench.rows, i = r.count - 1; return [r.outcomes[r.outcome[i]].label, r.causes[r.cause[i]],"
                    "r.speedup[i] === null ? '' : kbench.factor(r.speedup[i])]")
    for part in ["the message", "kbench show", *last]:
        check(part in text or len(part) > 100 or not part.isprintable(), "the panel of a candidate that is told in brief lacks %r: %s" % (part, text))
    page.run("kbench.detailsOf = kbench.kept; kbench.change({open: null})")


def models(page):
    """Colours of models differ; of many, the best have one; the table of many can be sorted."""
    count = page.run("return kbench.rows.models.length")
    colors = page.run("return [...new Set(kbench.rows.models.map((_, i) => kbench.modelColor(i)))]")
    check(len(colors) == min(count, 9), "%d models have %d colours" % (count, len(colors)))
    for legend in page.run("return [...document.querySelectorAll('#charts .legend')].map((legend) => legend.children.length)"):
        check(legend <= 12, "a legend has %d entries" % legend)
    if page.count == 0:
        return
    if page.run("return document.getElementById('chart-fast-p') !== null"):
        page.point_at("#chart-fast-p .hit-area")
        check(page.run("return !document.getElementById('tip').hidden && document.querySelectorAll('#chart-fast-p .strong').length === 1"),
              "the curve under the pointer is not named, or does not stand out")
        page.point_away()
    if count > 8:
        check(not page.run("return [...document.querySelectorAll('#summary tbody tr')].some((row) => !row.classList.contains('overall'))"),
              "levels of %d models are shown from the start" % count)
    names = page.run("return [...document.querySelectorAll('#summary tbody tr.overall th')].map((head) => head.textContent)")
    ranked = page.run("return kbench.data.summary.rows.filter((row) => row.level === null).map((row) => row.rank ? row.rank + '. ' + row.name : row.name)")
    check(names == ranked, "models are called %s, and ranked %s" % (names, ranked))
    page.driver.find_element(By.CSS_SELECTOR, "#summary th:last-child button").click()
    values = page.run("return kbench.data.summary.rows.filter((row) => row.level === null).map((row) => row.cells[row.cells.length - 1])")
    best = max((cell["value"] for cell in values if cell["value"] is not None), default=None)
    if best is not None:
        top = page.run("return document.querySelector('#summary tbody tr td:last-child').firstChild.textContent")
        check(top in [cell["text"] for cell in values if cell["value"] == best], "sorted, the first model has %s, and the best %g" % (top, best))


def terms(page):
    """Outcomes, flags that the sources raise, and metrics have a meaning, which the pointer shows."""
    flags = {name for folder in ["worker", "record"] for path in (page_runs.ROOT / "src" / folder).rglob("*.cpp")
             for name in re.findall(r'\bflag\("(\w+)"|flags\.emplace_back\("(\w+)"', path.read_text(encoding="utf-8")) for name in name if name}
    for kind, names in [("flag", sorted(flags)), ("outcome", page.run("return kbench.rows.outcomes.map((outcome) => outcome.name)")),
                        ("metric", page.run("return kbench.data.summary.metrics"))]:
        unknown = page.run("return arguments[1].filter((name) => !kbench.meaning(arguments[0], name))", kind, names)
        check(not unknown, "no %s is explained by the name %s" % (kind, unknown))
    page.point_at("#summary th [aria-description]")
    check(page.run("return document.getElementById('tip').textContent") == page.run("return kbench.meaning('metric', 'correct')"),
          "the pointer at a metric does not show its meaning")
    page.point_away()


def model_links(page):
    if page.count == 0:
        return
    page.run("document.querySelector('#summary tbody .link').click()")
    expected = page.run("return kbench.rows.model.filter((model) => kbench.rows.models[model] === kbench.state.model).length")
    check(page.shown()[0] == expected > 0, "a model's name shows %d candidates, not %d" % (page.shown()[0], expected))
    page.run("kbench.change(kbench.noFilter)")


def large(page):
    begin = time.monotonic()
    page.load()
    page.driver.find_element(By.CSS_SELECTOR, "#candidates tbody tr[data-row]")
    took = time.monotonic() - begin
    print("%d candidates: shown after %.2f s" % (page.count, took))
    for name, script in [("filtering", "kbench.change({search: '7*r'})"), ("sorting", "kbench.change({search: '', sort: 'problem'})"),
                         ("scrolling", "document.querySelector('.grid-box').scrollTop = 1e6"),
                         ("opening", "kbench.open(kbench.rows.count - 1)")]:
        ms = page.run("const t = performance.now(); %s; document.body.offsetHeight; return performance.now() - t" % script)
        print("%s: %.0f ms" % (name, ms))
    page.run("kbench.change({open: null, sort: '', search: ''})")


def look_at(driver, path, arguments):
    driver.get_log("browser")
    page = Page(driver, path, arguments.screenshots)
    charts(page)
    if arguments.large:
        large(page)
    else:
        table(page)
        opening(page)
        brief(page)
        terms(page)
        model_links(page)
        models(page)
        # Keys, widths and colours are the same on a page with less of the same.
        if pathlib.Path(path).stem not in page_runs.LESS_OF_THE_SAME:
            chart_keys(page)
            panel_keys(page)
            looks(page)
        long_texts(page)
        highlighting(page)
        saved(page)
    requests = page.run("return performance.getEntriesByType('resource').map((entry) => entry.name)"
                        ".filter((name) => !name.startsWith('data:'))")
    check(not requests, "the page asks for %s" % requests)
    check(page.run("return document.querySelectorAll('[src], link[href]:not([href^=\"data:\"])').length") == 0,
          "the page has elements that load something")
    messages = page.messages()
    check(not messages, "the console says: %s" % json.dumps(messages)[:2000])
    check(page.run("return window.kbenchInjected") is None, "something of a candidate was executed")


class Viewer:
    """Looks at pages in one browser, or in a new one after anything went wrong: what a browser does by
    chance, such as crashing on a busy machine, it does not do twice."""

    def __init__(self, arguments):
        self.arguments, self.driver = arguments, None

    def look(self, path):
        """What is wrong with a page, or None."""
        for again in [False, True]:
            try:
                self.driver = self.driver or browser()
                look_at(self.driver, path, self.arguments)
                return None
            except (Wrong, *TROUBLE) as wrong:
                self.close()
                if again:
                    return wrong
                print("%s, once: %s" % (path, wrong), flush=True)

    def look_at_all(self, paths):
        """Whether all are as they should be; ends with the first that is not."""
        try:
            for path in paths:
                wrong = self.look(path)
                print("%s: %s" % (path, wrong or "as it should be"), flush=True)
                if wrong is not None:
                    return False
            return True
        finally:
            self.close()

    def close(self):
        if self.driver is not None:
            close(self.driver)
        self.driver = None


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("pages", nargs="*")
    parser.add_argument("--kbench", help="the binary that writes pages of hostile and odd runs")
    parser.add_argument("--screenshots", type=pathlib.Path)
    parser.add_argument("--large", action="store_true", help="how long it takes, of many candidates")
    arguments = parser.parse_args()
    if arguments.screenshots is not None:
        arguments.screenshots.mkdir(parents=True, exist_ok=True)
    folder = tempfile.TemporaryDirectory(prefix="kbench_pages_")
    pages = list(arguments.pages)
    if arguments.kbench:
        for run in page_runs.write_runs(pathlib.Path(folder.name)):
            page = run.with_suffix(".html")
            subprocess.run([arguments.kbench, "report", str(run), "--format", "html=%s" % page],
                           check=True)
            pages.append(page)
    # A browser and who looks at its page wait for each other most of the time.
    browsers = 1 if arguments.large else BROWSERS
    shares = [pages[i::browsers] for i in range(browsers)]
    with folder, concurrent.futures.ThreadPoolExecutor(len(shares)) as pool:
        alright = list(pool.map(lambda share: Viewer(arguments).look_at_all(share), shares))
    return 0 if all(alright) else 1


if __name__ == "__main__":
    sys.exit(main())
