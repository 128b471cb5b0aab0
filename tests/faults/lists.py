"""The lists of faults beside this file, and the results of the last runs."""

import hashlib
import json
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
RESULTS = HERE / "results.json"
COMPILED = {".c", ".h", ".inc"}

Results = dict[str, dict[str, Any]]


@dataclass(frozen=True)
class Fault:
    """`old` stands once in `file`; `why`: the reason for which a fault that survives changes nothing."""

    room: str
    breaks: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...] = ()
    why: str = ""

    @property
    def key(self) -> str:
        """What a result belongs to: the fault itself, whatever its tests and wherever its file is moved."""
        return hashlib.sha256("\0".join((Path(self.file).name, self.old, self.new)).encode()).hexdigest()[:12]

    @property
    def compiled(self) -> bool:
        return Path(self.file).suffix in COMPILED

    def stale(self) -> str:
        """Why it cannot be planted any more, or nothing."""
        path = ROOT / self.file
        found = path.read_text().count(self.old) if path.exists() else 0
        if found != 1:
            return f"the text to replace stands {found} times in {self.file}"
        missing = [test for test in self.tests if not is_there(test)]
        return f"there is no {missing[0]}" if missing else ""

    def line(self, root: Path = ROOT) -> int:
        """The first line, from 1, that planting it changes."""
        text = (root / self.file).read_text()
        same = next((i for i, (a, b) in enumerate(zip(self.old, self.new, strict=False)) if a != b), len(self.new))
        return text.count("\n", 0, text.index(self.old) + same) + 1


def is_there(test: str) -> bool:
    path, _, name = test.partition("::")
    if not (ROOT / path).exists():
        return False
    return not name or f"def {name.split('[')[0]}(" in (ROOT / path).read_text()


def all_faults() -> list[Fault]:
    found = []
    for path in sorted(HERE.glob("*.toml")):
        document = tomllib.loads(path.read_text())
        tests = document.get("tests", [])
        for one in document["fault"]:
            one["tests"] = tuple(one.get("tests", tests))
            found.append(Fault(room=path.stem, **one))
    return found


def read_results() -> Results:
    return json.loads(RESULTS.read_text()) if RESULTS.exists() else {}


def keep(results: Results) -> None:
    """A line for each."""
    lines = [f"{json.dumps(key)}: {json.dumps(results[key])}" for key in sorted(results)]
    RESULTS.write_text("{\n" + ",\n".join(lines) + "\n}\n")
