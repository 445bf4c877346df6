# SPDX-License-Identifier: MIT
"""What is seen of a page: light and dark, narrow and wide, on paper, and texts in it."""

import base64
import shutil
import subprocess
import tempfile

from page_browser import check

WIDTHS = [360, 1400, 2000]
LEAST_TEXT = 11


def chart_texts(page, width):
    """Texts in charts are large enough, and none is cut by its chart's edge."""
    texts = page.run("""
      return [...document.querySelectorAll('#charts svg')].flatMap((svg) => {
        const frame = svg.getBoundingClientRect(), scale = svg.getScreenCTM().a;
        return [...svg.querySelectorAll('text')].filter((text) => text.textContent !== '').map((text) => {
          const box = text.getBoundingClientRect();
          return { text: text.textContent, chart: svg.closest('figure').id,
                   size: parseFloat(getComputedStyle(text).fontSize) * scale,
                   over: Math.max(frame.left - box.left, box.right - frame.right, frame.top - box.top, box.bottom - frame.bottom) };
        });
      })""")
    for text in texts:
        check(text["size"] >= LEAST_TEXT - 0.05, "at %d px, %r in %s is %.1f px high"
              % (width, text["text"], text["chart"], text["size"]))
        check(text["over"] < 2, "at %d px, %r in %s is cut at the edge by %.1f px"
              % (width, text["text"], text["chart"], text["over"]))


def narrow_and_wide(page):
    for width in WIDTHS:
        page.size(width)
        over = page.run("return document.documentElement.scrollWidth - innerWidth")
        check(over <= 1, "at %d px the page is %d px too wide" % (width, over))
        chart_texts(page, width)
        page.shot(str(width))
        if page.count > 0:
            page.run("kbench.open(0)")
            over = page.run("const p = document.getElementById('panel'); return p.scrollWidth - p.clientWidth")
            check(over <= 1, "at %d px the panel is %d px too wide" % (width, over))
            page.run("kbench.change({open: null})")
    page.own_size()


def on_paper(page):
    """The rows, and the table's head on each of their pages."""
    page.emulate(media="print")
    expected = min(500, page.count)
    drawn = page.run("return document.querySelectorAll('#candidates tbody tr[data-row]').length")
    check(drawn == expected, "%d rows are printed of %d" % (drawn, expected))
    check(page.run("return getComputedStyle(document.querySelector('.grid-box')).overflow") == "visible",
          "the printed table is clipped")
    for shown, what in [(".filters", "filters"), ("#candidates thead button", "buttons")]:
        check(page.run("return getComputedStyle(document.querySelector(arguments[0])).display", shown) == "none",
              "the %s are printed" % what)
    check(page.run("document.querySelector('.grid-box').focus(); return getComputedStyle(document.activeElement).outlineStyle") == "none",
          "the ring of the focus is printed")
    page.shot("print")
    page.emulate(scheme="light")
    if page.count < 30 or shutil.which("pdftotext") is None:
        return
    page.run("kbench.open(0)")  # what is open is not printed
    pdf = base64.b64decode(page.driver.execute_cdp_cmd("Page.printToPDF", {"preferCSSPageSize": True})["data"])
    page.run("kbench.change({open: null})")
    with tempfile.NamedTemporaryFile(suffix=".pdf") as file:
        file.write(pdf)
        file.flush()
        text = subprocess.run(["pdftotext", "-layout", file.name, "-"], capture_output=True, check=True).stdout.decode()
    sheets = text.split("\f")
    rows = "level1/0_Problem" if "level1/0_Problem" in text else None
    if rows is None:
        return
    first = next(i for i, sheet in enumerate(sheets) if "Candidates" in sheet and "outcome" in sheet)
    for i, sheet in enumerate(sheets[first:], first):
        check(not sheet.strip() or ("outcome" in sheet and "problem" in sheet and "speedup" in sheet or page.on_cpu),
              "page %d of the print has rows without the table's head" % (i + 1))
    printed = sum(sheet.count("_Problem") for sheet in sheets[first:])
    check(printed == expected, "%d rows are on paper of %d" % (printed, expected))


def result_first(page):
    """The result is a sentence below the title, on the first screen of a phone as is the table; the run's facts are folded."""
    page.size(400, 800)
    check(page.run("return document.getElementById('head').children[1].textContent") == page.run("return kbench.data.result"),
          "the page does not begin with its result")
    for selector in [".result"] + ([] if page.run("return kbench.data.warnings.length") else ["#summary tbody tr"]):
        bottom = page.run("scrollTo(0, 0); return document.querySelector(arguments[0]).getBoundingClientRect().bottom", selector)
        check(bottom < 800, "%s ends at %d px of a phone's screen" % (selector, bottom))
    check(page.run("return !document.querySelector('#summary dl.run_summary').checkVisibility()"), "the run's facts are not folded")
    page.own_size()


def outcome_colors(page):
    """Each outcome has one colour, the same everywhere; no other outcome and no model has it."""
    outcomes, models, missing = page.run("""
      const style = getComputedStyle(document.documentElement), color = (name) => style.getPropertyValue('--' + name).trim();
      return [kbench.rows.outcomes.map((outcome) => color(outcome.name)), d3.range(8).map((i) => color('m' + i)), color('missing')]""")
    check("" not in outcomes and len(set(outcomes + models)) == len(outcomes + models), "outcomes or models share colours: %s" % outcomes)
    channels = [int(missing[i:i + 2], 16) for i in (1, 3, 5)]
    check(max(channels) - min(channels) < 32, "missing is %s, not grey" % missing)
    seen = page.run("""
      const seen = {}, note = (label, color) => (seen[label] = seen[label] || []).push(color);
      for (const entry of document.querySelectorAll(':is(#chart-timeline, #chart-outcomes) .legend li'))
        note(entry.textContent, getComputedStyle(entry.firstChild).backgroundColor);
      for (const dot of document.querySelectorAll('#candidates .dot')) note(dot.parentElement.textContent, getComputedStyle(dot).backgroundColor);
      d3.selectAll('#chart-causes rect.marks').each(function (bar) { note(kbench.rows.outcomes[bar.outcome].label, getComputedStyle(this).fill); });
      return Object.entries(seen)""")
    for label, colors in seen:
        check(len(set(colors)) == 1, "%s has the colours %s" % (label, colors))


def looks(page):
    result_first(page)
    for scheme in ["light", "dark"]:
        page.emulate(scheme=scheme)
        check(page.run("return document.documentElement.dataset.theme") == scheme, "%s is not followed" % scheme)
        outcome_colors(page)
        page.shot(scheme)
    page.emulate(scheme="light")
    narrow_and_wide(page)
    page.driver.set_window_size(1400, 1000)
    on_paper(page)


# A source, its language, and (text, class) of pieces that it has to have.
SOURCES = [
    ("x = 1\nsource = '''\n#include <cuda.h>\n/* one\n two */ __global__ void f();\n'''\n# y\n", "python",
     [("#include <cuda.h>", "p"), ("/* one", "c"), (" two */", "c"), ("__global__", "k"), ("# y", "c"), ("'''", "s")]),
    ('def f():\n  """first\n  last"""\n  return 1', "python", [('"""first', "s"), ('  last"""', "s"), ("return", "k")]),
    ("/* one\n two */ int x = 1'000; // end\n#define A \\\n  b\n\"text\"", "cuda",
     [("/* one", "c"), (" two */", "c"), ("int", "k"), ("1'000", "d"), ("// end", "c"), ("  b", "p"), ('"text"', "s")]),
    ("int x; /* without an end\n x", "cuda", [("/* without an end", "c"), (" x", "c")]),
]


def highlighting(page):
    for source, language, expected in SOURCES:
        lines = page.run("return kbench.highlighted(arguments[0], arguments[1])", source, language)
        check("\n".join("".join(text for text, _ in line) for line in lines) == source,
              "%s is not shown as it is: %r" % (language, source))
        pieces = [tuple(piece) for line in lines for piece in line]
        for piece in expected:
            check(piece in pieces, "%r is no %r in %r: %r" % (*piece, source, pieces))


def long_texts(page):
    """What is said below a line of source stays in the box; long causes do not fill the page."""
    width = page.run("""
      const source = { name: 'a.cu', language: 'cuda', text: 'int x;\\n' + 'long_line '.repeat(300) + '\\n' };
      const view = kbench.sourceView(source, [1, 2].map((line) => ({ line, severity: 'error', text: 'word '.repeat(200) + 'y'.repeat(900) })));
      const panel = document.getElementById('panel');
      panel.hidden = false;
      panel.replaceChildren(view);
      const box = view.getBoundingClientRect();
      const over = Math.max(...[...view.querySelectorAll('.said')].map((said) => said.getBoundingClientRect().right - box.right));
      panel.replaceChildren();
      panel.hidden = true;
      return over""")
    check(width <= 1, "what is said of a line is %d px outside of the source's box" % width)
    high = page.run("return Math.max(0, ...[...document.querySelectorAll('#failures summary')].map((e) => e.offsetHeight))")
    check(high < 70, "a group of failures is %d px high" % high)
    high = page.run("""
      for (const group of document.querySelectorAll('#failures details')) group.open = true;
      const most = Math.max(0, ...[...document.querySelectorAll('#failures details li')].map((e) => e.offsetHeight));
      for (const group of document.querySelectorAll('#failures details')) group.open = false;
      return most""")
    check(high < 200, "a failure in the list is %d px high" % high)
