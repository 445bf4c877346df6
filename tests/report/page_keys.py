# SPDX-License-Identifier: MIT
"""A page by keyboard alone."""

from page_browser import check
from selenium.webdriver.common.keys import Keys

MOST_STOPS = 60


def active(page):
    return page.run("const e = document.activeElement; return e.closest('figure') ? e.closest('figure').id : e.id || e.className || e.tagName")


def at_chart(page, chart):
    page.run("document.querySelector('#' + arguments[0] + ' svg').focus()", chart)


def ring(page, chart):
    """Whether the mark that the keyboard is at is marked, and where."""
    return page.run("const r = document.querySelector('#' + arguments[0] + ' .ring');"
                    "if (r === null || getComputedStyle(r).display === 'none') return null;"
                    "const b = r.getBoundingClientRect(); return [Math.round(b.x), Math.round(b.y), Math.round(b.width), Math.round(b.height)]", chart)


def chart_keys(page):
    charts = page.run("return [...document.querySelectorAll('#charts figure')].map((figure) => figure.id)")
    if not charts:
        return
    # Tab comes by every chart, and each says what is to be done in it.
    page.run("document.activeElement.blur(); scrollTo(0, 0)")
    reached = []
    for _ in range(MOST_STOPS):
        page.press(Keys.TAB)
        at = active(page)
        if at in charts and page.run("return document.activeElement.tagName") == "svg":
            reached.append(at)
            check(page.run("return getComputedStyle(document.activeElement).outlineStyle") != "none",
                  "%s does not show that it has the focus" % at)
            check("Arrow keys" in page.run("return document.activeElement.getAttribute('aria-label')"),
                  "%s does not say what keys do" % at)
        if len(reached) == len(charts):
            break
    check(reached == charts, "Tab comes by %s of %s" % (reached, charts))
    for chart in charts:
        at_chart(page, chart)
        page.press(Keys.HOME)
        first, said = ring(page, chart), page.run("return document.getElementById('say').textContent")
        check(first is not None and first[2] > 0, "%s does not show where its keyboard is" % chart)
        check(said != "", "%s says nothing of its first mark" % chart)
        check(not page.run("return document.getElementById('tip').hidden"), "%s shows no text at its first mark" % chart)
        page.press(Keys.END)
        page.press(Keys.ARROW_DOWN)
        page.press(Keys.ARROW_LEFT)
        check(ring(page, chart) is not None, "%s loses its mark" % chart)
    at_chart(page, charts[0])
    check(ring(page, charts[-1]) is None or charts[0] == charts[-1], "%s keeps its mark without the focus" % charts[-1])


def filters_and_opens(page):
    if page.count == 0 or not page.run("return document.getElementById('chart-causes') !== null"):
        return
    at_chart(page, "chart-causes")
    page.press(Keys.HOME)
    page.press(Keys.ENTER)
    count, rows = page.shown()
    expected = page.run("const c = new Map(); kbench.rows.outcome.forEach((o, i) => { const k = o + ' ' + kbench.rows.cause[i];"
                        "c.set(k, (c.get(k) || 0) + 1); }); return Math.max(...c.values())")
    check(count == expected, "Enter on the longest bar shows %d candidates, not %d" % (count, expected))
    check(active(page) == "candidates-heading", "the focus is at %s, not at the table" % active(page))
    page.run("kbench.change(kbench.noFilter)")
    if page.run("return document.getElementById('chart-speedups') !== null"):
        at_chart(page, "chart-speedups")
        page.press(Keys.HOME)
        page.press(Keys.ENTER)
        count, rows = page.shown()
        speedups = page.run("return arguments[0].map((row) => kbench.rows.speedup[row])", rows)
        low, high = map(float, page.run("return kbench.state.range").split(":")[1:])
        check(count > 0 and all(low <= speedup < high for speedup in speedups),
              "Enter on a bar of speedups shows %s of %g to %g" % (speedups, low, high))
        check(page.run("return !document.querySelector('.filters .chosen').hidden"), "the range is not said to filter")
        page.run("document.querySelector('.filters .chosen').click()")
        check(page.run("return kbench.state.range") == "", "the range cannot be left")
        page.run("kbench.change(kbench.noFilter)")
    at_chart(page, "chart-outcomes")
    page.press(Keys.HOME)
    said = page.run("return document.getElementById('say').textContent")
    page.press(Keys.ENTER)
    opened = page.run("return kbench.state.open")
    check(opened is not None and page.run("return kbench.candidateName(arguments[0])", opened).replace("\n", ", ") in said,
          "Enter on a cell opens %s, not %r" % (opened, said))
    page.press(Keys.ESCAPE)
    check(active(page) == "chart-outcomes", "after Escape the focus is at %s" % active(page))


def panel_keys(page):
    """The open panel holds the focus; Escape closes it, and gives the focus back."""
    filters_and_opens(page)
    if page.count == 0:
        return
    page.driver.find_element("css selector", ".grid-box").send_keys(Keys.HOME, Keys.ENTER)
    check(page.run("return document.getElementById('panel').getAttribute('aria-modal')") == "true", "the panel is no modal dialog")
    stops = page.run("return document.querySelectorAll('#panel :is(button:not([disabled]), [tabindex])').length")
    for press in [page.press_tab, page.press_back_tab]:
        seen = set()
        for _ in range(stops + 3):
            press()
            check(page.run("return document.getElementById('panel').contains(document.activeElement)"),
                  "the focus leaves the open panel for %s" % active(page))
            seen.add(page.run("return document.activeElement.textContent.slice(0, 40)"))
        check(len(seen) > 1 or stops == 1, "the focus does not move in the panel")
    if page.count > 1:
        page.run("document.querySelector('#panel [data-step=\"1\"]').focus()")
        before = page.run("return kbench.state.open")
        page.press(Keys.ENTER)
        check(page.run("return kbench.state.open") not in (before, None), "Next does not go to the next candidate")
        check(page.run("return document.getElementById('panel').contains(document.activeElement)"), "Next loses the focus")
    page.press(Keys.ESCAPE)
    check(page.run("return document.getElementById('panel').hidden"), "Escape does not close the panel")
    check(page.run("return document.activeElement.classList.contains('grid-box')"),
          "the focus is not given back to the table, but to %s" % active(page))
