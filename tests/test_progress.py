"""The progress bar: on a terminal, after a while, and nowhere else."""

import io
import time
from typing import Any

import pytest
import rich.console

from fmumbs import _progress
from fmumbs._progress import progress_bar

CONSOLE = rich.console.Console


def printed(monkeypatch: pytest.MonkeyPatch, terminal: bool, patience: float, wait: Any = None) -> str:
    text = io.StringIO()
    console = CONSOLE(file=text, force_terminal=terminal, width=80)
    monkeypatch.setattr(rich.console, "Console", lambda stderr: console)
    monkeypatch.setattr(_progress, "PATIENCE", patience)
    with progress_bar("the [run]") as advance:
        advance(0.25)
        if wait is not None:
            wait(text)
        advance(1.0)
    return text.getvalue()


def appeared(text: io.StringIO) -> None:
    """Waits for the thread that shows the bar, which may have begun before the first part was done."""
    until = time.monotonic() + 10.0
    while "25%" not in text.getvalue() and time.monotonic() < until:
        time.sleep(0.01)
    assert "the [run]" in text.getvalue() and "25%" in text.getvalue()


def test_a_bar_appears_on_a_terminal_with_what_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "100%" in printed(monkeypatch, terminal=True, patience=0.0, wait=appeared)


def test_nothing_is_printed_elsewhere_or_before_the_patience_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    assert printed(monkeypatch, terminal=False, patience=0.0) == ""
    assert printed(monkeypatch, terminal=True, patience=100.0) == ""
