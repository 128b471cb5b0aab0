"""axe-core, which checks that a page can be used by everybody; npm fetches it once into build/axe."""

import shutil
import subprocess
from functools import cache
from pathlib import Path

VERSION = "4.14.1"
_FOLDER = Path(__file__).parents[2] / "build" / "axe"
_SECONDS = 60


@cache
def axe_core() -> str | None:
    """Its source; None where npm is not installed or cannot fetch it."""
    source = _FOLDER / "node_modules" / "axe-core" / "axe.min.js"
    npm = shutil.which("npm")
    if not source.is_file() and npm is not None:
        command = [npm, "install", "--silent", "--no-audit", "--prefix", str(_FOLDER), f"axe-core@{VERSION}"]
        try:
            subprocess.run(command, capture_output=True, timeout=_SECONDS, check=False)
        except subprocess.TimeoutExpired:
            return None
    return source.read_text(encoding="utf-8") if source.is_file() else None
