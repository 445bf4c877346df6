# SPDX-License-Identifier: MIT
"""A page of `kbench report --format html` in a real browser, for page_test.py."""

import pathlib
import shutil
import sys
import time

try:
    from selenium import webdriver
    from selenium.common.exceptions import WebDriverException
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
    from urllib3.exceptions import HTTPError
except ImportError:
    print("skipped: there is no selenium (python3-selenium)")
    sys.exit(77)


LONGEST_WAIT_S = 30
# Done when what has changed is drawn: media and sizes are looked at between two frames, and charts are
# drawn anew a little later.
SETTLED = """
  const done = arguments[0];
  const wait = () => kbench.isDrawingLater() ? setTimeout(wait, 10) : done();
  requestAnimationFrame(() => requestAnimationFrame(wait));
"""


# What says that the browser, or its driver, does not answer.
TROUBLE = (WebDriverException, HTTPError)


class Wrong(Exception):
    pass


def check(holds, sentence):
    if not holds:
        raise Wrong(sentence)


def until(holds, sentence):
    """For what the browser does when it comes to it, such as going back."""
    end = time.monotonic() + LONGEST_WAIT_S
    while not holds():
        check(time.monotonic() < end, sentence)
        time.sleep(0.02)


def browser():
    binary = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if binary is None or shutil.which("chromedriver") is None:
        print("skipped: there is no Chromium with its driver (chromium, chromium-driver)")
        sys.exit(77)
    options = webdriver.ChromeOptions()
    options.binary_location = binary
    for argument in ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                     "--disable-dev-shm-usage", "--window-size=1400,1000"]:
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options)
    driver.set_script_timeout(LONGEST_WAIT_S)
    return driver


def close(driver):
    try:
        driver.quit()
    except TROUBLE:
        pass  # it has crashed


class Page:
    def __init__(self, driver, path, shots):
        self.driver, self.path, self.shots = driver, pathlib.Path(path).resolve(), shots
        self.load()
        self.count = self.run("return kbench.rows.count")
        self.on_cpu = self.run("return kbench.data.on_cpu")

    def load(self, fragment=""):
        self.driver.get("about:blank")
        self.driver.get(self.path.as_uri() + fragment)
        check(self.run("return document.documentElement.dataset.ready") == "1",
              "the page's script did not reach its end: %s" % self.messages())

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def press(self, *keys):
        """Keys as a person presses them: where the focus is."""
        ActionChains(self.driver).send_keys(*keys).perform()

    def point_at(self, selector):
        ActionChains(self.driver).move_to_element(self.driver.find_element(By.CSS_SELECTOR, selector)).perform()

    def point_away(self):
        """To where nothing listens: a browser tells of a pointer also when the page moves under it."""
        self.driver.execute_cdp_cmd("Input.dispatchMouseEvent", {"type": "mouseMoved", "x": 0, "y": 0})

    def press_tab(self):
        self.press(Keys.TAB)

    def press_back_tab(self):
        ActionChains(self.driver).key_down(Keys.SHIFT).send_keys(Keys.TAB).key_up(Keys.SHIFT).perform()

    def size(self, width, height=1000):
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})
        self.settle()

    def own_size(self):
        self.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        self.settle()

    def settle(self):
        self.driver.execute_async_script(SETTLED)

    def messages(self):
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def shot(self, name):
        if self.shots is None:
            return
        height = min(6000, self.run("return document.documentElement.scrollHeight"))
        width = self.run("return innerWidth")
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})
        self.driver.save_screenshot(str(self.shots / ("%s-%s.png" % (self.path.stem, name))))
        self.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})

    def emulate(self, **media):
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {
            "media": media.get("media", ""),
            "features": [{"name": "prefers-color-scheme", "value": media["scheme"]}]
            if "scheme" in media else []})
        self.settle()

    def shown(self):
        """How many candidates the table says that it shows, and the names of the first."""
        text = self.driver.find_element(By.CSS_SELECTOR, ".filters [role=status]").text
        rows = self.run("return [...document.querySelectorAll('#candidates tbody tr[data-row]')]"
                        ".slice(0, 5).map((row) => Number(row.dataset.row))")
        return int(text.split()[0].replace(",", "")), rows
