"""The kernels' levels side by side, by the host's compiler and by the one that builds other platforms' binaries.

    python benchmarks/compilers.py [--quick] [--json FILE]

Both compilers make Linux code from the same sources with the flags of CMakeLists.txt: the host's
the binary of native FMUs, and ziglang those of all other platforms. All variants compute the same bits, and take turns
in one run. README.md says more.
"""

import ctypes
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import loops
import trees
from common import BUILD, HERE, Measure, Row, interleaved, print_goals, print_table, processor_name, write_rows
from engines import to_model
from side_by_side import arguments

from fmumbs.compiler import compile
from fmumbs.compiler.image import ModelImage
from fmumbs.readers import read_model

ROOT = HERE.parent
TARGET = "x86_64-linux-gnu.2.17"
LEVELS = ("plain", "AVX2", "AVX-512")
APART, PLAIN = 1.15, 2.0  # goals: one compiler beside the other, plain beside the best level

TREES = (("arm", 6), ("arm", 10), ("arm", 100), ("spherical", 6), ("spherical", 100), ("planar", 10), ("planar", 100),
         ("branch", 100))  # fmt: skip
WINDOWS = (("fourbar", 1), ("ladder", 10), ("ladder", 100))
MODELS = ("bricard", "flexible_four_bar", "multi_loop_flexible", "engine")
MOTIONS = (("arm6", "dopri5", 0.2), ("four_bar", "dopri5", 0.5), ("flexible_four_bar", "rk4", 0.02),
           ("governor", "radau", 0.2), ("crane", "radau", 0.02), ("manipulator5", "radau", 0.02))  # fmt: skip
QUICK = 3  # of each, the first


@dataclass(frozen=True)
class Case:
    """What is timed: evaluations of the accelerations at the start, or the motion up to `end` [s]."""

    name: str
    n: int
    image: ModelImage
    end: float = 0.0


def cases(quick: bool = False) -> list[Case]:
    """Open chains and trees, loops, flexible bodies, and motions by each kind of scheme."""
    most = QUICK if quick else None
    found = []
    for name, n in TREES[:most]:
        tree = trees.CASES[name](n)
        found.append(Case(name, n, compile(to_model(tree, trees.random_state(tree)))))
    found += [Case(name, n, compile(to_model(*loops.CASES[name](n)))) for name, n in WINDOWS[:most]]
    found += [Case(name, 0, image_of(name)) for name in MODELS[:most]]
    return found + [
        Case(f"{name}, {scheme}", 0, image_of(name).with_options(scheme=scheme), end)
        for name, scheme, end in MOTIONS[:most]
    ]


def image_of(name: str) -> ModelImage:
    """A mechanism of models/."""
    return compile(read_model(name))


@dataclass(frozen=True)
class Variant:
    """The core by one compiler, and a level of its kernels."""

    library: ctypes.CDLL
    level: int


class Running:
    """A case in one variant."""

    def __init__(self, variant: Variant, case: Case) -> None:
        self._c, self._name = variant.library, case.name
        message, data = ctypes.create_string_buffer(1000), case.image.bytes
        self._instance = self._c.level_open(data, len(data), variant.level, message, len(message))
        if self._instance is None:
            raise RuntimeError(f"{case.name}: {message.value.decode()}")
        self._call: Callable[[int], int] = partial(self._c.level_evaluate, self._instance)
        if case.end:
            size = self._c.level_state_size(self._instance)
            start = ctypes.create_string_buffer(size)
            self._c.level_state_save(self._instance, start, size)
            self._call = partial(self._c.level_run, self._instance, start, size, case.end)

    def repeat(self, times: int) -> None:
        if not self._call(times):
            raise RuntimeError(f"{self._name}: the core refused")

    def close(self) -> None:
        self._c.level_close(self._instance)


def variants() -> dict[str, Variant]:
    """By "COMPILER LEVEL", those that this machine can build and run; each compiler's best level comes first."""
    folders = {"native": native_build()}
    if find_spec("ziglang") is None:
        print("ziglang is missing: pip install ziglang\n")
    else:
        folders["ziglang"] = cross_build()
    found = {}
    for name, folder in folders.items():
        library = linked(name, folder)
        for level in range(library.level_best(), -1, -1):
            found[f"{name} {LEVELS[level]}"] = Variant(library, level)
    return found


def native_build() -> Path:
    """The folder in which CMake is set up for the host's compiler."""
    folder = BUILD / "native"
    options = ["-DCMAKE_BUILD_TYPE=Release", "-DFMUMBS_BINARY_ONLY=ON", f"-DCMAKE_MAKE_PROGRAM={program('ninja')}"]
    run(program("cmake"), "-G", "Ninja", "-S", ROOT, "-B", folder, *options)
    return folder


def cross_build() -> Path:
    """The same for ziglang, as the binaries of other platforms are built."""
    run(sys.executable, "-c", f"import platforms; platforms.compiled({TARGET!r})", folder=ROOT / "cmake")
    return ROOT / "build" / "platforms" / TARGET


def program(name: str) -> str:
    """Of this Python's environment, else of the path."""
    return shutil.which(name, path=str(Path(sys.executable).parent)) or name


def run(*command: str | Path, folder: Path = ROOT) -> None:
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)


def linked(name: str, folder: Path) -> ctypes.CDLL:
    """The core and levels.c as a library."""
    run(program("cmake"), "--build", folder, "--target", "archive")
    library = BUILD / f"{name}.so"
    files = [str(HERE / "levels.c"), str(folder / "libfmumbs.a"), "-lm", "-Wl,-z,defs"]
    run("cc", "-std=c99", "-O2", "-shared", "-fPIC", f"-I{ROOT / 'fmumbs' / 'core'}", *files, "-o", library)
    c = ctypes.CDLL(str(library))
    size, pointer, text = ctypes.c_size_t, ctypes.c_void_p, ctypes.c_char_p
    c.level_open.restype, c.level_open.argtypes = pointer, (text, size, ctypes.c_int32, text, size)
    c.level_evaluate.argtypes = (pointer, size)
    c.level_run.argtypes = (pointer, text, size, ctypes.c_double, size)
    c.level_state_size.restype, c.level_state_size.argtypes = size, (pointer,)
    c.level_state_save.argtypes = (pointer, text, size)
    c.level_close.restype, c.level_close.argtypes = None, (pointer,)
    return c


def main() -> None:
    """Measures, prints the table and the goals, and writes the rows."""
    options = arguments(__doc__, "three of each group, within a minute or two")
    print(f"{processor_name()}\n")
    kinds = variants()
    rows, lines, measures = [], [], []
    for case in cases(options.quick):
        seconds = timed(kinds, case)
        rows += [Row(case.name, case.n, name, 1e6 * value) for name, value in seconds.items()]
        title = f"{case.name}, {case.n}" if case.n else case.name
        lines.append([title, *(f"{1e6 * value:.3f}" for value in seconds.values())])
        measures += compared(title, seconds)
    print("One evaluation of the accelerations, or one motion [us]")
    print_table(["case", *kinds], lines)
    if options.json:
        write_rows(options.json, rows)
    print_goals(measures)


def timed(kinds: dict[str, "Variant"], case: Case) -> dict[str, float]:
    """Seconds of each variant."""
    runs = {name: Running(kind, case) for name, kind in kinds.items()}
    try:
        return interleaved({name: run.repeat for name, run in runs.items()})
    finally:
        for run in runs.values():
            run.close()


def compared(title: str, seconds: dict[str, float]) -> list[Measure]:
    """Plain beside the best level of each compiler, and the compilers' best levels beside each other."""
    compilers = list(dict.fromkeys(name.split()[0] for name in seconds))
    best = {one: next(value for name, value in seconds.items() if name.startswith(one)) for one in compilers}
    found = [
        Measure(f"{title}: plain / best, {one}", seconds[f"{one} plain"] / best[one], PLAIN, "x") for one in compilers
    ]
    if len(compilers) == 2:
        ratio = best[compilers[1]] / best[compilers[0]]
        found.append(Measure(f"{title}: the slower compiler's / the other's", max(ratio, 1.0 / ratio), APART, "x"))
    return found


if __name__ == "__main__":
    main()
