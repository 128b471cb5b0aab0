"""Results of examples and notebooks, each made once for each state of the sources.

They are kept in build/docs, or in the folder that the environment variable FMUMBS_DOCS names.
"""

import fcntl
import hashlib
import os
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
SUFFIXES = (".py", ".so", ".c", ".xml", ".ipynb", ".html", ".css")


@cache
def _sources() -> bytes:
    """A hash of all that results depend on."""
    found = hashlib.sha256()
    folders = ("fmumbs", "models", "examples")
    for path in sorted(path for folder in folders for path in (ROOT / folder).rglob("*")):
        if path.suffix in SUFFIXES and not {"_models", "__pycache__"} & set(path.parts):
            found.update(path.read_bytes())
    return found.digest()


def folder_of(name: str, run: Callable[[Path], None]) -> Path:
    """The folder with the results of `run`, which writes them into the folder that it is given."""
    home = Path(os.environ.get("FMUMBS_DOCS", ROOT / "build" / "docs"))
    done = home / f"{name}-{hashlib.sha256(_sources()).hexdigest()[:16]}"
    if done.exists():
        return done
    home.mkdir(parents=True, exist_ok=True)
    with (home / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # several processes may want it
        if not done.exists():
            _make(name, done, run)
    return done


def _make(name: str, done: Path, run: Callable[[Path], None]) -> None:
    """Makes a folder of results in place of those of older sources; it appears when it is complete."""
    for old in done.parent.glob(f"{name}-*"):
        shutil.rmtree(old)
    work = done.with_name(f"{done.name}.part")
    work.mkdir()
    try:
        run(work)
        work.rename(done)
    finally:
        shutil.rmtree(work, ignore_errors=True)
