"""Stiff mechanisms: Radau IIA beside the explicit scheme, the Radau of SciPy and the alpha method of Exudyn.

    python benchmarks/stiff.py [--quick] [--json FILE]

Each scheme integrates the same motion; shown are its steps, evaluations, error at the end beside a run of tolerance
1e-11, and processor time. README.md says what is compared. --quick leaves out Exudyn and the longest chains.
"""

import argparse
import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from common import Measure, exponent, print_goals, print_table, processor_name
from scipy.integrate import solve_ivp
from stiff_mechanisms import beam, driven_beam, exudyn_beam

import fmumbs as fm
from fmumbs.compiler import ModelImage, compile
from fmumbs.readers import read_model

TOLERANCE = 1e-6
EXACT = 1e-11
DIFFERENCE = 1e-7  # rad, m or their rates, of a Jacobian by differences
ROUNDS = 3
ELEMENTS = 20
CHAINS = (125, 250, 500, 1000)
FLEXIBLE = {"support": "flexible", "link": "flexible", "friction": True}  # all that bends and rubs
PLACES = 51  # of a body's path, at the ends of as many communication steps
RK4 = tuple(2.0 ** (-n / 4) for n in range(16, 64))  # steps [s] that are tried for the one that reaches the error


@dataclass(frozen=True)
class Run:
    """One run of a case by a scheme; error: of positions and velocities, relative to 1 and themselves."""

    case: str
    scheme: str
    steps: float
    evaluations: float
    error: float
    seconds: float

    def cells(self) -> list[str]:
        return [
            self.case,
            self.scheme,
            f"{self.steps:.0f}",
            f"{self.evaluations:.0f}",
            f"{self.error:.1e}",
            f"{1e3 * self.seconds:.3g}",
        ]


def states(image: ModelImage) -> tuple[list[str], ...]:
    """Names of the positions and of the velocities, but for those of the joints that measure a link's tip."""
    names = [v.name for v in image.variables if v.causality == "output" and "_tip." not in v.name]
    return tuple([n for n in names if n.split("[")[0].endswith(end)] for end in (".q", ".qd"))


def state(solver: fm.Solver) -> np.ndarray:
    return np.concatenate([np.ravel(solver.get(name)) for group in states(solver.image) for name in group])


def integrate(
    case: str, image: ModelImage, stop: float, exact: np.ndarray | None, **options: float | str
) -> tuple[Run, np.ndarray]:
    """The least time of some runs."""
    seconds = []
    for _ in range(ROUNDS if exact is not None else 1):
        solver = fm.Solver(image.with_options(**options))
        solver.assemble()
        start = time.thread_time()
        solver.step(stop)
        seconds.append(time.thread_time() - start)
    end = state(solver)
    error = np.nan if exact is None else difference(end, exact)
    name = " ".join(str(value) for value in options.values())
    found = Run(case, name, solver.get("solver.steps"), solver.get("solver.evaluations"), error, min(seconds))
    return found, end


def difference(one: np.ndarray, exact: np.ndarray) -> float:
    return float((np.abs(one - exact) / np.maximum(1.0, np.abs(exact))).max())


def by_scipy(case: str, image: ModelImage, stop: float, exact: np.ndarray) -> Run:
    """SciPy's Radau on the same accelerations, Jacobian by differences; they come through Python: no time is shown."""
    solver = fm.Solver(image)
    solver.assemble()
    positions, velocities = states(image)
    accelerations = [name.removesuffix("qd") + "qdd" for name in velocities]
    joints = [solver.image.variables.references(name) for name in accelerations]
    references = [reference for found in joints for reference in np.atleast_1d(found)]
    n = len(positions)

    def rates(_: float, y: np.ndarray) -> np.ndarray:
        solver.set_state(y[:n], y[n:])
        return np.concatenate([y[n:], solver.read(references)])

    def jacobian(t: float, y: np.ndarray) -> np.ndarray:
        at = rates(t, y)
        return np.array([(rates(t, y + step) - at) / DIFFERENCE for step in DIFFERENCE * np.eye(2 * n)]).T

    y = np.array([float(solver.get(name)) for name in positions + velocities])
    found = solve_ivp(rates, (0.0, stop), y, method="Radau", rtol=TOLERANCE, atol=TOLERANCE, jac=jacobian)
    evaluations = found.nfev + found.njev * (2 * n + 1)
    return Run(
        case, f"scipy Radau {TOLERANCE:g}", len(found.t) - 1, evaluations, difference(found.y[:, -1], exact), np.nan
    )


def compare(case: str, image: ModelImage, stop: float, schemes: tuple[str, ...]) -> dict[str, Run]:
    _, exact = integrate(case, image, stop, None, scheme="radau", tolerance=EXACT)
    return {scheme: integrate(case, image, stop, exact, scheme=scheme, tolerance=TOLERANCE)[0] for scheme in schemes}


def gain(runs: dict[str, Run], goal: float, case: str) -> list[Measure]:
    explicit, implicit = runs["dopri5"], runs["radau"]
    return [
        Measure(f"{case}: time of dopri5 over radau", explicit.seconds / implicit.seconds, goal, "x", at_least=True),
        Measure(
            f"{case}: evaluations of dopri5 over radau",
            explicit.evaluations / implicit.evaluations,
            goal,
            "x",
            at_least=True,
        ),
    ]


def path_of(body: str, image: ModelImage, stop: float, **options: float | str) -> tuple[np.ndarray, float]:
    """Places of a body [m] during its motion, and the steps."""
    solver = fm.Solver(image.with_options(**options))
    solver.assemble()
    places = []
    for time_of in np.linspace(0.0, stop, PLACES)[1:]:
        solver.step(float(time_of))
        places.append(solver.get(f"{body}.r"))
    return np.array(places), solver.get("solver.steps")


def fewest_steps(body: str, image: ModelImage, stop: float, scheme: str) -> tuple[float, float]:
    """Fewest steps of a scheme for an error of a body's places of 1e-6 of its path; time of a second of motion [s]."""
    exact, _ = path_of(body, image, stop, scheme="radau", tolerance=EXACT)
    length = float(np.linalg.norm(np.diff(exact, axis=0), axis=1).sum())
    choices: dict[str, list[dict[str, float]]] = {
        "rk4": [{"step": step} for step in RK4],
        "radau": [{"tolerance": 10.0**-power} for power in np.arange(3.0, 9.0, 0.5)],
    }
    for options in choices[scheme]:
        start = time.thread_time()
        try:
            places, steps = path_of(body, image, stop, scheme=scheme, **options)
        except fm.SolverError:
            continue  # it is not stable
        seconds = time.thread_time() - start
        if float(np.abs(places - exact).max()) < TOLERANCE * length:
            return steps, seconds / stop
    return np.nan, np.nan


def economy(case: str, body: str, image: ModelImage, stop: float, rk4: float | None) -> list[Measure]:
    """RK4's steps over Radau's at 1e-6 of a body's path, in steps of rk4 [s], None: the longest that suffice."""
    explicit = stop / rk4 if rk4 else fewest_steps(body, image, stop, "rk4")[0]
    implicit, seconds = fewest_steps(body, image, stop, "radau")
    at = f" at {rk4:g} s" if rk4 else ""
    return [
        Measure(
            f"{case}: steps of rk4{at} over radau at 1e-6 of the path", explicit / implicit, 50, "x", at_least=True
        ),
        Measure(f"{case}: time of a second of motion at 1e-6 of the path", seconds, 1.0, "s"),
    ]


def chains(counts: tuple[int, ...]) -> tuple[list[Run], list[Measure]]:
    """Time of a step and an element, of beams whose elements are as long."""
    images = {n: compile(driven_beam(n, length=n / ELEMENTS)) for n in counts}
    runs = [compare(f"beam of {n}", image, 0.2, ("radau",))["radau"] for n, image in images.items()]
    power = exponent({str(n): run.seconds / run.evaluations for n, run in zip(counts, runs, strict=True)})
    return runs, [Measure("chain: power of n in the time of an evaluation", power, 1.1, "")]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    print(processor_name())
    rows: list[Run] = []
    goals: list[Measure] = []
    build: Callable[[], fm.Model]
    for case, build, stop, goal in (
        ("governor, 10 s", lambda: read_model("governor"), 10.0, 10.0),
        (f"beam of {ELEMENTS} let go, 1 s", lambda: beam(ELEMENTS), 1.0, 10.0),
        (f"beam of {ELEMENTS} driven, 2 s", lambda: driven_beam(ELEMENTS), 2.0, 10.0),
        ("crane, 5 s", lambda: read_model("crane"), 5.0, 2.0),
    ):
        image = compile(build(), everything=True)
        runs = compare(case, image, stop, ("dopri5", "radau", "auto"))
        rows += runs.values()
        goals += gain(runs, goal, case)
        _, exact = integrate(case, image, stop, None, scheme="radau", tolerance=EXACT)
        if image.sizes["excitations"] == 0:
            rows.append(by_scipy(case, image, stop, exact))
        if case.startswith("governor"):
            goals.append(Measure("governor: steps of radau", runs["radau"].steps, 500, ""))
        if case.startswith("crane"):
            goals += economy("crane", "load", image, stop, None)
    image = compile(read_model("manipulator5", FLEXIBLE), everything=True)
    rows += compare("manipulator5, 4 s", image, 4.0, ("radau", "auto")).values()
    goals += economy("manipulator5", "fore", image, 4.0, 1e-5)  # the tool's path is programmed
    if not arguments.quick:
        peers = exudyn_beam(ELEMENTS)
        rows += [Run(*found) for found in peers]
        if not peers:
            print("Exudyn is not installed: pip install exudyn")
    found, measures = chains(CHAINS[:2] if arguments.quick else CHAINS)
    rows += found
    goals += measures
    print_table(["case", "scheme", "steps", "evaluations", "error", "ms"], [row.cells() for row in rows])
    print_goals(goals)
    if arguments.json:
        arguments.json.write_text(json.dumps([asdict(row) for row in rows], indent=1))


if __name__ == "__main__":
    main()
