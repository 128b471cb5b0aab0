"""Functions that all benchmarks share: compile and load C, interleaved timing, print a table, write rows."""

import ctypes
import hashlib
import json
import math
import statistics
import subprocess
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

HERE = Path(__file__).resolve().parent
BUILD = HERE.parent / "build" / "benchmarks"

BLOCK = 4e-3  # seconds that one turn of one tool takes, so that clock and call weigh nothing
ROUNDS = 25
BUDGET = 3.0  # seconds for all turns of one tool


@dataclass(frozen=True)
class Row:
    """One measurement, as --json writes it."""

    case: str
    n: int
    tool: str
    us_per_eval: float


@dataclass(frozen=True)
class Measure:
    """A measured value and the goal that it must not exceed, or must reach if `at_least`."""

    what: str
    value: float
    goal: float
    unit: str
    at_least: bool = False

    @property
    def met(self) -> bool:
        return self.value >= self.goal if self.at_least else self.value <= self.goal

    def cells(self) -> list[str]:
        bound = "at least" if self.at_least else "at most"
        return [
            self.what,
            f"{bound} {self.goal:g} {self.unit}",
            f"{self.value:.3g} {self.unit}",
            "yes" if self.met else "NO",
        ]


class BuildError(Exception):
    """A C or C++ source did not compile; the text is the compiler's output."""


def build_library(source: Path, command: Sequence[str], links: Sequence[str] = ()) -> Path:
    """A shared library of `source`, compiled unless the same text was already compiled by the same command.

    command: the compiler and its flags; links: arguments after the source.
    """
    key = hashlib.sha256("\0".join([*command, *links, _compiler_version(command[0]), _processor()]).encode())
    for part in [source, *sorted(source.parent.glob("*.h"))]:
        key.update(part.read_bytes())
    library = BUILD / f"{source.stem}-{key.hexdigest()[:16]}.so"
    if not library.exists():
        BUILD.mkdir(parents=True, exist_ok=True)
        unfinished = library.with_suffix(".unfinished")
        arguments = [*command, "-shared", "-fPIC", str(source), "-o", str(unfinished), *links]
        done = subprocess.run(arguments, capture_output=True, text=True, check=False)
        if done.returncode:
            raise BuildError(f"{source.name}: {done.stderr.strip()[:2000]}")
        unfinished.rename(library)
    return library


def interleaved(evaluators: Mapping[str, Callable[[int], None]]) -> dict[str, float]:
    """Median seconds of one evaluation by each tool, in the processor time of this thread.

    evaluators: for each tool a call that evaluates so many times. The tools take turns, A B C A B C, so that
    whatever slows the machine down slows them all. The first evaluation of each turn is not counted: it finds
    the caches full of another tool's data.
    """
    times = {tool: _calibrate(evaluate) for tool, evaluate in evaluators.items()}
    samples: dict[str, list[float]] = {tool: [] for tool in evaluators}
    spent = dict.fromkeys(evaluators, 0.0)
    for _ in range(ROUNDS):
        for tool, evaluate in evaluators.items():
            if spent[tool] < BUDGET:
                evaluate(1)
                seconds = processor_seconds(partial(evaluate, times[tool]))
                spent[tool] += seconds
                samples[tool].append(seconds / times[tool])
    return {tool: statistics.median(values) for tool, values in samples.items()}


def processor_seconds(call: Callable[[], object]) -> float:
    """The processor time [s] of this thread that one call takes."""
    start = time.thread_time()
    call()
    return time.thread_time() - start


def wall_seconds(call: Callable[[], object]) -> float:
    """The time [s] that one call takes, waiting included."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def allocated_bytes() -> int:
    """Bytes that the C library's malloc has given out; 0 where it does not tell."""
    try:
        mallinfo2 = ctypes.CDLL(None).mallinfo2
    except AttributeError:
        return 0
    mallinfo2.restype = _Mallinfo2
    info = mallinfo2()
    return int(info.hblkhd + info.uordblks)


def clock_gigahertz() -> float:
    """The processor's real clock [GHz], measured."""
    library = ctypes.CDLL(str(build_library(HERE / "clock.c", ["cc", "-std=c99", "-O2"])))
    library.clock_gigahertz.restype = ctypes.c_double
    return float(library.clock_gigahertz())


def processor_name() -> str:
    """The processor as the system names it."""
    names = (line.split(":", 1)[1].strip() for line in _processor_lines() if line.startswith("model name"))
    return next(names, "unknown processor")


def print_table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Columns as wide as their entries; the first is text, the others are numbers."""
    lines = [list(headings), *map(list, rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(headings))]
    for index, line in enumerate(lines):
        cells = [line[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(line[1:], widths[1:], strict=True))]
        print("  ".join(cells).rstrip(), flush=True)
        if index == 0:
            print("  ".join("-" * width for width in widths))


def print_goals(measures: Iterable[Measure]) -> None:
    """The goals and the measured values."""
    print("\nGoals")
    print_table(["measure", "goal", "measured", "met"], [measure.cells() for measure in measures])


def exponent(values: Mapping[str, float]) -> float:
    """Exponent of the power law through the first and the last value."""
    first, *_, last = values
    return math.log(values[last] / values[first]) / math.log(int(last) / int(first))


def write_rows(path: Path, rows: Iterable[Row]) -> None:
    """The rows as a JSON array of objects."""
    path.write_text(json.dumps([asdict(row) for row in rows], indent=1) + "\n")


class _Mallinfo2(ctypes.Structure):
    """struct mallinfo2 of glibc: of interest are the bytes in mapped blocks and in used ones."""

    _fields_ = (
        *((name, ctypes.c_size_t) for name in ("arena", "ordblks", "smblks", "hblks", "hblkhd")),
        *((name, ctypes.c_size_t) for name in ("usmblks", "fsmblks", "uordblks", "fordblks", "keepcost")),
    )


def _calibrate(evaluate: Callable[[int], None]) -> int:
    """How many evaluations make one block."""
    evaluate(1)  # what is done once only is done here
    times = 1
    while (seconds := processor_seconds(partial(evaluate, times))) < BLOCK / 4:
        times *= 4
    return max(1, round(times * BLOCK / seconds))


def _compiler_version(compiler: str) -> str:
    return subprocess.run([compiler, "--version"], capture_output=True, text=True, check=True).stdout


def _processor_lines() -> list[str]:
    path = Path("/proc/cpuinfo")
    return path.read_text().splitlines() if path.exists() else []


def _processor() -> str:
    """What -march=native depends on."""
    wanted = ("model name", "flags", "Features")
    return "".join(sorted({line for line in _processor_lines() if line.startswith(wanted)}))
