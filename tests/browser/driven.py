"""A headless Chromium that a test drives over its DevTools protocol, through a pipe: nothing but the standard library.

The protocol: https://chromedevtools.github.io/devtools-protocol/ (a JSON object per message, and a zero byte).
"""

from __future__ import annotations

import base64
import json
import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from tests.browser.chromium import chromium_path

OPTIONS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--no-first-run",
    "--window-size=1200,1000",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    "--remote-debugging-pipe",
)


MOVED = ("Inspected target navigated or closed", "Execution context was destroyed", "Cannot find default execution")


class MovedError(AssertionError):
    """The page went to another document while it was asked."""


class Tab:
    """One page.

    Attributes:
        console: what the page has complained about.
    """

    def __init__(self, to_browser: int, from_browser: int) -> None:
        self._to, self._from = to_browser, from_browser
        self._rest = b""
        self._last = 0
        self._session: str | None = None
        self.console: list[str] = []
        target = self._call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self._call(f"{domain}.enable")

    def open(self, url: str) -> None:
        """Go to an address."""
        self._call("Page.navigate", url=url)

    def reload(self) -> None:
        """Load the document again; what follows is asked of the new one."""
        self.ask("window.is_old = true")
        self._call("Page.reload")
        self.wait_for("!window.is_old && document.readyState === 'complete'")

    def prefer(self, scheme: str) -> None:
        """Make the page light or dark, as a reader's system would."""
        feature = {"name": "prefers-color-scheme", "value": scheme}
        self._call("Emulation.setEmulatedMedia", features=[feature])

    def print(self) -> None:
        """Show the page as it is printed."""
        self._call("Emulation.setEmulatedMedia", media="print")

    def narrow(self, width_px: int) -> None:
        """Show the page on a screen of this width."""
        self._call("Emulation.setDeviceMetricsOverride", width=width_px, height=900, deviceScaleFactor=1, mobile=False)

    def stretch(self) -> None:
        """Make the window as high as the page, so that all of it is in view."""
        height = min(self.ask("document.documentElement.scrollHeight"), 60_000)
        size = {"width": 1200, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self._call("Emulation.setDeviceMetricsOverride", **size)

    def unstretch(self) -> None:
        """Give the window its own size back."""
        self._call("Emulation.clearDeviceMetricsOverride")

    def ask(self, expression: str) -> Any:
        """Return the value of an expression of JavaScript in the page."""
        answer = self._call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def wait_for(self, expression: str, seconds: float = 120) -> Any:
        """Wait until an expression is true, also of the next document, and return its value."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            with suppress(MovedError):
                if value := self.ask(expression):
                    return value
            time.sleep(0.2)
        raise AssertionError(f"not within {seconds:g} s: {expression}; the page says: {self.ask('said.textContent')}")

    def click(self, selector: str) -> None:
        """Click with the mouse on the middle of the first line of an element, or as near to it as is in view."""
        self.ask(f"document.querySelector({json.dumps(selector)}).scrollIntoView({{block: 'center'}})")
        box = f"document.querySelector({json.dumps(selector)}).getClientRects()[0]"
        x, y = self.ask(f"[{box}.x + {box}.width / 2, {box}.y + Math.min({box}.height / 2, 12)]")
        x = min(x, self.ask("innerWidth") - 40)
        for kind in ("mousePressed", "mouseReleased"):
            self._call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def press(self, key: str) -> None:
        """Press a key."""
        if key == "Tab":  # moves the focus by its code, and writes nothing
            code = {"key": key, "code": key, "windowsVirtualKeyCode": 9}
            self._call("Input.dispatchKeyEvent", type="rawKeyDown", **code)
            self._call("Input.dispatchKeyEvent", type="keyUp", **code)
            return
        if key != "Enter" and len(key) > 1:  # arrows, Escape: keys that write nothing
            self._call("Input.dispatchKeyEvent", type="rawKeyDown", key=key, code=key)
            self._call("Input.dispatchKeyEvent", type="keyUp", key=key, code=key)
            return
        text = {"text": "\r"} if key == "Enter" else {"text": key}
        self._call("Input.dispatchKeyEvent", type="keyDown", key=key, **text)
        self._call("Input.dispatchKeyEvent", type="keyUp", key=key)

    def picture(self, target: Path) -> Path:
        """Keep a picture of what the window shows."""
        target.write_bytes(base64.b64decode(self._call("Page.captureScreenshot")["data"]))
        return target

    def _call(self, method: str, **parameters: object) -> dict[str, Any]:
        self._last += 1
        message = {"id": self._last, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while True:
            heard = self._message()
            if heard.get("id") == self._last:
                if heard.get("error", {}).get("message", "").startswith(MOVED):
                    raise MovedError(heard)
                assert "error" not in heard, heard
                result: dict[str, Any] = heard["result"]
                return result
            self._note(heard)

    def _message(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            piece = os.read(self._from, 1 << 16)
            assert piece, "the browser has ended"
            self._rest += piece
        one, _, self._rest = self._rest.partition(b"\0")
        heard: dict[str, Any] = json.loads(one)
        return heard

    def _note(self, heard: dict[str, Any]) -> None:
        said = heard.get("params", {})
        if heard.get("method") == "Runtime.exceptionThrown":
            self.console.append(str(said["exceptionDetails"]))
        elif heard.get("method") == "Log.entryAdded" and said["entry"]["level"] == "error":
            self.console.append(f"{said['entry']['text']} {said['entry'].get('url', '')}")


@contextmanager
def driven(profile: Path) -> Iterator[Tab]:
    """Start a browser with a profile folder of its own; it ends with the block."""
    path = chromium_path()
    assert path is not None
    read_commands, to_browser = os.pipe()
    from_browser, write_answers = os.pipe()
    shell = f'exec "$@" 3<&{read_commands} 4>&{write_answers}'
    process = subprocess.Popen(
        ["bash", "-c", shell, "bash", path, *OPTIONS, f"--user-data-dir={profile}"],
        pass_fds=(read_commands, write_answers),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(read_commands)
    os.close(write_answers)
    try:
        yield Tab(to_browser, from_browser)
    finally:
        os.close(to_browser)
        os.close(from_browser)
        process.terminate()
        process.wait(20)
