"""What an engineer waits for: runs, sweeps, compilations, exports, pages and the import, in processor time.

    python benchmarks/waiting.py [--quick] [--json FILE] [GROUP...]

Goals are for a processor that takes 40 ns for a body of a long chain; beside each time is its ratio to that of a body
on the present processor, in thousands, which counts on any other. Peers are shown where they have the path and are
installed. GROUP: only these functions of this file. --quick: smaller models and fewer runs.
"""

import argparse
import gc
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import numpy as np
import trees
from common import interleaved, print_table, processor_name
from engines import to_model
from numpy.typing import NDArray
from waiting_models import fmpy_seconds, mujoco_seconds, six_cylinders

import fmumbs as fm
from fmumbs.compiler import Structure, compile
from fmumbs.compiler.compiling import parts_of
from fmumbs.compiler.placing import unique_at_start
from fmumbs.export.picture import icon
from fmumbs.readers import read_model

UNIT = 40e-9  # s of a body in a sweep on the processor to which the goals belong
CHAIN, LONG_CHAIN = 1000, 10_000  # bodies
HOT = 384  # bytes of a body that sweeps read or write
FLEXIBLE = {"support": "flexible", "link": "flexible", "friction": True}  # all that bends and rubs
TURNS = 5
US, MS = 1e-6, 1e-3


@dataclass(frozen=True)
class Line:
    """One path: what it takes, and what it should at most. unit: "us", "ms", "s", "MB", or "" for a ratio."""

    what: str
    unit: str
    measured: float
    goal: float
    peer: str = ""

    def is_met(self, body: float) -> bool:
        """body: time of a body in a sweep [s]. A count, a ratio or a size does not depend on the processor."""
        return self.measured <= self.goal * (body / UNIT if self.unit in _SCALES else 1.0)

    def cells(self, body: float) -> list[str]:
        scale = _SCALES.get(self.unit)
        ratios = (
            [""] * 2 if scale is None else [f"{v * scale / 1e3:.4g}" for v in (self.measured / body, self.goal / UNIT)]
        )
        times = [f"{v:.4g} {self.unit}" for v in (self.measured, self.goal)]
        return [self.what, *times, *ratios, "yes" if self.is_met(body) else "NO", self.peer]


_SCALES = {"us": US, "ms": MS, "s": 1.0}


@dataclass(frozen=True)
class Size:
    """How much is measured. sweep: runs; bodies: of the largest compilation, with its goals in s and MB."""

    sweep: int
    bodies: int
    goals: tuple[float, float]


FULL, QUICK = Size(2000, 100_000, (8.0, 500.0)), Size(200, 10_000, (0.8, 130.0))


def seconds(call: Callable[[], object], turns: int = TURNS) -> float:
    """The least processor time [s] of this process for a call."""
    found = []
    for _ in range(turns):
        gc.collect()
        start = time.process_time()
        call()
        found.append(time.process_time() - start)
    return min(found)


# Runs -----------------------------------------------------------------------------------------------------------------


def stiff_runs(_: Size) -> list[Line]:
    lines = []
    for what, model, stop, goal, most in (
        ("governor", read_model("governor"), 10.0, None, 10),
        ("crane", read_model("crane"), 5.0, 60, 16),
        ("manipulator5, all flexible, friction", read_model("manipulator5", FLEXIBLE), 4.0, 200, 16),
    ):
        image = compile(model, everything=True, scheme="radau")
        solver = fm.Solver(image)
        taken = seconds(partial(_run, solver, stop))
        if goal is not None:
            lines.append(Line(f"{what}, {stop:g} s by radau", "ms", taken / MS, goal))
        each = solver.get("solver.evaluations") / solver.get("solver.steps")
        lines.append(Line(f"{what} by radau: evaluations a step", "", each, most))
    return lines


def default_runs(_: Size) -> list[Line]:
    lines = []
    for name, stop, goal in (("governor", 10.0, 5), ("crane", 5.0, 65), ("cantilever", 1.0, 30)):
        taken = seconds(partial(_run, fm.Solver(compile(read_model(name))), stop), 3)
        lines.append(Line(f"{name} as it ships, {stop:g} s", "ms", taken / MS, goal))
    return lines


def engine(_: Size) -> list[Line]:
    solver = fm.Solver(compile(six_cylinders()))
    taken = seconds(partial(_run, solver, 1.0))
    count = solver.get("solver.evaluations")
    each = interleaved({"": solver.evaluate})[""]
    limit = f"{count:.0f} evaluations of {each / US:.3g} us are {count * each / MS:.3g} ms"
    shares = {"build()": six_cylinders, "which reactions are unique": _uniqueness(six_cylinders())}
    made = seconds(lambda: compile(six_cylinders()))
    return [
        Line("engine of six cylinders, 1 s", "ms", taken / MS, 3.2, limit),
        Line("engine of six cylinders: build and compile", "ms", made / MS, 6, _of_it(shares)),
    ]


def _uniqueness(model: fm.Model) -> Callable[[], object]:
    """What a compilation does to find out which reactions are unique."""
    parts = parts_of(model, {}, {})
    bodies = [(joint.F if joint.name in parts.backwards else joint.M).body.name for joint in parts.tree]
    return partial(unique_at_start, bodies, [*parts.tree, *parts.cuts], model.couplings, parts.arrays)


def _run(solver: fm.Solver, stop: float) -> None:
    solver.reset()
    solver.assemble()
    solver.step(stop)


def outputs(_: Size) -> list[Line]:
    solver = fm.Solver(read_model("crane"))
    solver.assemble()
    references = solver.image.variables.outputs()

    def read_all() -> None:
        for k in range(100):
            solver.set("solver.step", 1e-3 + 1e-9 * k)  # what was computed for the last values is not used again
            solver.read(references)

    return [Line(f"all {len(references)} outputs of the crane", "us", seconds(read_all) / 100 / US, 50)]


def simulation(_: Size) -> list[Line]:
    name, turns = "double_pendulum", 20
    run = partial(fm.simulate, stop=5.0, interval=0.01)
    model, new = read_model(name), iter([read_model(name) for _ in range(turns)])
    shares = {"compile": partial(compile, model), "rows with integration": _rows(compile(model))}
    first = seconds(lambda: run(next(new)), turns)
    again = seconds(partial(run, model), turns)
    peer = f"FMPy {fmpy_seconds(model, 5.0, 0.01) / MS:.3g} ms"
    return [
        Line("fm.simulate, double pendulum, 501 rows, a new Model", "ms", first / MS, 1.5, _of_it(shares)),
        Line("the same Model again", "ms", again / MS, 1.5, peer),
    ]


def _rows(image: fm.ModelImage) -> Callable[[], object]:
    solver, references = fm.Solver(image), image.variables.outputs()
    times = np.arange(1, 501) * 0.01
    values = np.empty((len(references), len(times))).T

    def run() -> None:
        solver.reset()
        solver.assemble()
        solver.run(times, references, values)

    return run


# Sweeps ---------------------------------------------------------------------------------------------------------------


def sweeps(size: Size) -> list[Line]:
    joints = {f"J{k}.q": (0.1, 0.5) for k in range(1, 7)}
    found = mujoco_seconds(6, 5.0)
    patch = {"image": _patching("four_bar")}
    linkage = _of_it({"build() with its file": partial(read_model, "four_bar")} | patch | _integration("four_bar"))
    arm = _of_it(_integration("arm6"))
    peer = arm if found is None else f"{arm}; mujoco.rollout {found / MS:.3g} ms"
    lengths = {"crank": (0.09, 0.11)}
    return [
        Line("sweep of four_bar over a length, a run", "ms", _sweep("four_bar", lengths, size), 2.0, linkage),
        Line("sweep of arm6 over start values, a run", "ms", _sweep("arm6", joints, size), 0.4, peer),
    ]


def _patching(name: str) -> Callable[[], object]:
    model = read_model(name)
    return partial(Structure(model, compile(model)).patched, model, (), {})


def _integration(name: str) -> dict[str, Callable[[], object]]:
    image = compile(read_model(name))
    return {"integration": partial(_run, fm.Solver(image), image.default_experiment.stop)}


def _of_it(shares: dict[str, Callable[[], object]], turns: int = 20) -> str:
    return "of it " + ", ".join(f"{name} {seconds(call, turns) / MS:.3g} ms" for name, call in shares.items())


def _sweep(name: str, ranges: dict[str, tuple[float, float]], size: Size) -> float:
    """Processor time [ms] of a run of a sweep in this process, with the sweep's start and its file."""
    with tempfile.TemporaryDirectory() as folder:

        def run(samples: int) -> None:
            fm.sweep(name, Path(folder) / f"{samples}.parquet", ranges=ranges, samples=samples, workers=0)

        run(1)  # imports what sweeps need
        return seconds(partial(run, size.sweep), 1) / size.sweep / MS


# Models ---------------------------------------------------------------------------------------------------------------


def compilation(size: Size) -> list[Line]:
    model = _chain(CHAIN)
    lines = [Line(f"compile, {CHAIN} bodies, a body", "us", seconds(partial(compile, model)) / CHAIN / US, 60)]
    code = "import sys, waiting; waiting.compile_alone(int(sys.argv[1]))"
    taken, before, image, memory = json.loads(_python(["-c", code, str(size.bodies)]))
    limit = f"before it {before:.4g} MB, its image {image:.3g} MB"
    return [
        *lines,
        Line(f"compile, {size.bodies} bodies", "s", taken, size.goals[0]),
        Line(f"compile, {size.bodies} bodies: memory", "MB", memory, size.goals[1], limit),
    ]


def compile_alone(bodies: int) -> None:
    """Prints the processor time [s] of a compilation in this process, and in MB the most memory before it, the size of
    the image, and the most memory at all.
    """
    model = _chain(bodies)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    images: list[fm.ModelImage] = []
    taken = seconds(lambda: images.append(compile(model)), 1)
    size = len(images[0].bytes) / 2**20
    print(json.dumps([taken, before, size, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024]))


def _chain(bodies: int) -> fm.Model:
    tree = trees.arm(bodies)
    return to_model(tree, trees.near_rest(tree))


def export(_: Size) -> list[Line]:
    lines = []
    for bodies, goal in ((10, 12), (CHAIN, 200)):
        new = iter([_with_output(_chain(bodies)) for _ in range(TURNS)])
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder) / "chain.fmu"
            taken = seconds(lambda new=new, place=place: fm.export_fmu(next(new), place))
        image = compile(_with_output(_chain(bodies)))
        shares = {"compile": partial(compile, _with_output(_chain(bodies))), "picture": partial(icon, image)}
        peer = _of_it(shares, TURNS)
        lines.append(Line(f"export, {bodies} bodies", "ms", taken / MS, goal, peer))
    return lines


def _with_output(model: fm.Model) -> fm.Model:
    model.output("tip", of=f"{model.joints[-1].name}.q")
    return model


def page(_: Size) -> list[Line]:
    return [Line("page of the crane, model.view()", "s", seconds(read_model("crane").view, 2), 0.2)]


def imports(_: Size) -> list[Line]:
    """The import in a new interpreter, whose own start is not counted, with bytecode as installed."""
    codes = {"fmumbs": "import fmumbs", "runs": "import fmumbs; fmumbs.Solver", "numpy": "import numpy", "": "pass"}
    with tempfile.TemporaryDirectory() as folder:
        environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
        environment["PYTHONPYCACHEPREFIX"] = folder
        taken = {name: min(_child_seconds(["-c", code], environment) for _ in range(9)) for name, code in codes.items()}
    whole, runs, numpy = (taken[name] - taken[""] for name in ("fmumbs", "runs", "numpy"))
    peer = f"of it NumPy {numpy:.3g} s; with the compiler and the Solver {runs:.3g} s"
    return [Line("import fmumbs", "s", whole, 0.15, peer)]


def _child_seconds(arguments: list[str], environment: dict[str, str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    _python(arguments, environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _python(arguments: list[str], environment: dict[str, str] | None = None) -> str:
    command = [sys.executable, *arguments]
    folder = Path(__file__).parent
    done = subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True, text=True)
    return done.stdout


def long_chain(_: Size) -> list[Line]:
    each = _bodies(CHAIN, LONG_CHAIN)
    what = f"time of a body among {LONG_CHAIN} over that among {CHAIN}"
    arrays = {n: np.ones((n, HOT // 8)) for n in each}
    alone = interleaved({str(n): partial(_negate, array) for n, array in arrays.items()})
    more = (each[LONG_CHAIN] - each[CHAIN]) * 1e9
    once = (alone[str(LONG_CHAIN)] / LONG_CHAIN - alone[str(CHAIN)] / CHAIN) * 1e9
    limit = f"{more:.3g} ns more; to read and write {HOT} bytes once {once:.2g} ns more"
    return [Line(what, "", each[LONG_CHAIN] / each[CHAIN], 1.2, limit)]


def _negate(array: NDArray[np.float64], times: int) -> None:
    for _ in range(times):
        np.negative(array, out=array)


def _bodies(*counts: int) -> dict[int, float]:
    """Time [s] of a body in one evaluation of the accelerations of a chain, by its number of bodies."""
    solvers = {str(n): fm.Solver(_chain(n)) for n in counts}
    for solver in solvers.values():
        solver.assemble()
    return {int(n): taken / int(n) for n, taken in interleaved({n: s.evaluate for n, s in solvers.items()}).items()}


GROUPS: tuple[Callable[[Size], list[Line]], ...] = (
    stiff_runs, default_runs, engine, outputs, simulation, sweeps, compilation, export, imports, page, long_chain,
)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("group", nargs="*", choices=[[], *(group.__name__ for group in GROUPS)])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    body = _bodies(CHAIN)[CHAIN]
    print(f"{processor_name()}, {1e9 * body:.3g} ns for a body of {CHAIN}")
    lines: list[Line] = []
    for group in GROUPS:
        if not arguments.group or group.__name__ in arguments.group:
            lines += group(QUICK if arguments.quick else FULL)
    headings = ["path", "measured", "to be", "thousand bodies", "to be", "met", "beside it"]
    print_table(headings, [line.cells(body) for line in lines])
    if arguments.json:
        arguments.json.write_text(json.dumps([asdict(line) for line in lines], indent=1) + "\n")


if __name__ == "__main__":
    main()
