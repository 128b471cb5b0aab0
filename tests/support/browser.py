"""A page in headless Chromium, driven by the Chrome DevTools protocol, without a network."""

import base64
import itertools
import json
import shutil
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
PATIENCE = 60.0  # [s] for anything that a page is waited for; a busy machine draws slowly

_FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-dev-shm-usage",
    "--remote-debugging-port=0",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--host-resolver-rules=MAP * ~NOTFOUND",  # no network
    "--disable-background-networking",
    "--disable-component-update",
    "--no-first-run",
    "--hide-scrollbars",
)


class Browser:
    """One Chromium process with one tab; errors: what pages logged as errors, and exceptions that nobody caught."""

    def __init__(self, socket: Any) -> None:
        self._socket = socket
        self._ids = itertools.count(1)
        self.errors: list[str] = []
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> Any:
        """The result of a command of the protocol."""
        number = next(self._ids)
        self._socket.send(json.dumps({"id": number, "method": method, "params": parameters}))
        while True:
            message = json.loads(self._socket.recv(timeout=PATIENCE))
            if message.get("id") == number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                return message["result"]
            self._note(message)

    def _note(self, message: dict[str, Any]) -> None:
        given = message.get("params", {})
        match message.get("method"):
            case "Runtime.exceptionThrown":
                detail = given["exceptionDetails"]
                self.errors.append(str(detail.get("exception", {}).get("description", detail["text"])))
            case "Runtime.consoleAPICalled" if given["type"] in ("error", "assert"):
                self.errors.append(" ".join(str(one.get("value", one)) for one in given["args"]))
            case "Log.entryAdded" if given["entry"]["level"] == "error":
                self.errors.append(f"{given['entry']['text']} {given['entry'].get('url', '')}")
            case "Network.requestWillBeSent" if not given["request"]["url"].startswith(("file:", "data:", "blob:")):
                self.errors.append(f"the page asked for {given['request']['url']}")

    def open(
        self, path: Path, width: int = 1100, height: int = 720, phone: bool = False, plays: bool = False
    ) -> None:
        """Opens a file as file:// and waits until the page is ready. phone: with a touch screen. plays: the user has
        not asked for less motion, so that the page plays at once.
        """
        wish = {"name": "prefers-reduced-motion", "value": "no-preference" if plays else "reduce"}
        self.call("Emulation.setEmulatedMedia", features=[wish])
        self.errors.clear()
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=phone)
        self.call("Emulation.setTouchEmulationEnabled", enabled=phone, maxTouchPoints=5 if phone else 1)
        self.call("Page.navigate", url=path.resolve().as_uri())
        self.wait("document.readyState === 'complete' && location.protocol === 'file:'")

    def ask(self, expression: str) -> Any:
        """The value of a JavaScript expression, which may be a promise."""
        found = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in found:
            raise RuntimeError(found["exceptionDetails"]["exception"].get("description", "an exception"))
        return found["result"].get("value")

    def wait(self, expression: str) -> None:
        """Waits until an expression is true."""
        end = time.monotonic() + PATIENCE
        while not self.ask(expression):
            if time.monotonic() > end:
                raise TimeoutError(f"{expression} is still false. {self.errors}")
            time.sleep(0.02)

    def screenshot(self) -> bytes:
        """The page as PNG."""
        return base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])

    def key(self, key: str) -> None:
        """Presses and releases a key, which does to the control with the focus what it does there."""
        number = {"ArrowLeft": 37, "ArrowRight": 39, "Home": 36, "End": 35, "Tab": 9, "Enter": 13}.get(key)
        text = {"text": key} if len(key) == 1 else {"text": "\r"} if key == "Enter" else {}
        code = {"code": "Space", "windowsVirtualKeyCode": 32} if key == " " else {"code": key}
        code |= {"windowsVirtualKeyCode": number} if number else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, **code, **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, **code)

    def centre(self, selector: str) -> tuple[float, float]:
        """Where an element is on the screen."""
        box = f"document.querySelector({json.dumps(selector)}).getBoundingClientRect()"
        x, y = self.ask(f"((b) => [b.left + b.width / 2, b.top + b.height / 2])({box})")
        return float(x), float(y)

    def touch(self, *paths: Sequence[tuple[float, float]]) -> None:
        """Fingers, each along its points of the screen, all at once."""
        for step, points in enumerate(zip(*paths, strict=True)):
            fingers = [{"x": x, "y": y, "id": i} for i, (x, y) in enumerate(points)]
            self.call("Input.dispatchTouchEvent", type="touchMove" if step else "touchStart", touchPoints=fingers)
        self.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])

    def drag(self, *points: tuple[float, float], lets_go: bool = True) -> None:
        """Presses the left button of the mouse at the first point, moves through the others, and releases it."""
        kinds = ["mousePressed", *["mouseMoved"] * (len(points) - 1)]
        for kind, (x, y) in zip(kinds, points, strict=True):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", buttons=1, clickCount=1)
        if lets_go:
            self.let_go(points[-1])

    def let_go(self, at: tuple[float, float]) -> None:
        x, y = at
        self.call("Input.dispatchMouseEvent", type="mouseReleased", x=x, y=y, button="left", buttons=0, clickCount=1)

    def saved(self, selector: str, name: str, folder: Path) -> Path:
        """Clicks at what saves a file of this name, and returns where it is."""
        self.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(folder))
        self.drag(self.centre(selector))
        path, end = folder / name, time.monotonic() + PATIENCE
        while not path.exists():
            if time.monotonic() > end:
                raise TimeoutError(f"{name} was not saved; there are {[one.name for one in folder.iterdir()]}")
            time.sleep(0.02)
        return path

    def tap(self, selector: str) -> None:
        self.touch([self.centre(selector)])


@contextmanager
def chromium() -> Iterator[Browser]:
    """A Browser; its process ends with the block."""
    from websockets.sync.client import connect

    assert CHROMIUM is not None
    with TemporaryDirectory(prefix="chromium", ignore_cleanup_errors=True) as folder:
        command = [CHROMIUM, *_FLAGS, f"--user-data-dir={folder}", "about:blank"]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            with connect(_tab(Path(folder)), max_size=None, proxy=None) as socket:
                yield Browser(socket)
        finally:
            process.terminate()
            process.wait(PATIENCE)


def _tab(folder: Path) -> str:
    """The address of the tab's socket, once the browser has opened its port."""
    from urllib.request import urlopen

    written, end = folder / "DevToolsActivePort", time.monotonic() + PATIENCE
    while time.monotonic() < end:
        lines = written.read_text().split() if written.exists() else []
        if lines:
            with urlopen(f"http://127.0.0.1:{lines[0]}/json/list") as answer:
                tabs = [tab for tab in json.load(answer) if tab["type"] == "page"]
            if tabs:
                return str(tabs[0]["webSocketDebuggerUrl"])
        time.sleep(0.05)
    raise TimeoutError("Chromium did not open its debugging port.")
