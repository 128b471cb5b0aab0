"""How well FMUs couple: the error against the communication step, with three ways to pass on an input.

    python examples/coupling_study.py [FOLDER]

Two masses, each an FMU on a spring of its own, are connected by a spring and damper, whose force is an input of both.
The script is the master, over FMPy's calls of the FMUs. Over a communication step H the force is

  held      as it is at the beginning: error of order 1;
  linear    continued with its rate at the beginning, an input derivative of FMI: order 2;
  repeated  interpolated: each FMU makes the step with the held force, its state is restored, and it makes the step
            again with the force going linearly to what came out: order 2, with a smaller error.

The exact motion is a matrix exponential. SI units.
"""

import sys
from collections.abc import Callable
from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path

import numpy as np
from fmpy import extract, read_model_description
from fmpy.fmi2 import FMU2Slave
from scipy.linalg import expm

import fmumbs as fm

MASSES, STIFFNESS = (1.0, 2.0), 100.0  # each on its own spring [kg, N/m]
BETWEEN, DAMPING = 60.0, 1.5  # the spring and damper between them [N/m, N.s/m]
START = (0.1, -0.05)  # [m]
STOP = 1.6  # [s]
STEPS = [0.1 / 2**k for k in range(7)]  # H [s]


def model(mass: float, start: float) -> fm.Model:
    """A mass on a rail and a spring; the input is a force on it."""
    made = fm.Model("mass_on_spring", gravity=(0, 0, 0))
    block = fm.Body.box("block", size=(0.1, 0.1, 0.1), mass=mass)
    made.add(block, fm.Prismatic("x", made.ground.at(), block.at(), axis="x", q0=start, stiffness=STIFFNESS))
    return made


class Mass:
    """One instance of an FMU, stepped by FMPy's calls. x, v: position [m] and velocity [m/s]."""

    def __init__(self, unpacked: Path) -> None:
        description = read_model_description(unpacked)
        self.slave = FMU2Slave(
            guid=description.guid,
            unzipDirectory=str(unpacked),
            modelIdentifier=description.coSimulation.modelIdentifier,
            instanceName=unpacked.name,
        )
        self.slave.instantiate()
        references = {v.name: v.valueReference for v in description.modelVariables}
        self.force, self.outputs = references["x.f"], [references["x.q"], references["x.qd"]]
        self.qdd = references["x.qdd"]
        self.slave.setupExperiment(startTime=0.0, tolerance=1e-12)
        self.slave.enterInitializationMode()
        self.slave.exitInitializationMode()
        self.read()

    def read(self) -> None:
        self.x, self.v = self.slave.getReal(self.outputs)

    def acceleration(self, force: float) -> float:
        """That under a force [m/s2]."""
        self.slave.setReal([self.force], [force])
        return float(self.slave.getReal([self.qdd])[0])

    def step(self, t: float, H: float, force: float, rate: float = 0.0) -> None:
        self.slave.setReal([self.force], [force])
        if rate:
            self.slave.setRealInputDerivatives([self.force], [1], [rate])
        self.slave.doStep(t, H)
        self.read()

    def free(self) -> None:
        self.slave.terminate()
        self.slave.freeInstance()


def force(one: Mass, two: Mass) -> float:
    """Of the spring and damper between the masses, on the first; on the second it is the opposite."""
    return BETWEEN * (two.x - one.x) + DAMPING * (two.v - one.v)


def held(one: Mass, two: Mass, t: float, H: float) -> None:
    f = force(one, two)
    one.step(t, H, f)
    two.step(t, H, -f)


def linear(one: Mass, two: Mass, t: float, H: float) -> None:
    f = force(one, two)
    rate = BETWEEN * (two.v - one.v) + DAMPING * (two.acceleration(-f) - one.acceleration(f))
    one.step(t, H, f, rate)
    two.step(t, H, -f, -rate)


def repeated(one: Mass, two: Mass, t: float, H: float) -> None:
    f = force(one, two)
    states = [mass.slave.getFMUstate() for mass in (one, two)]
    held(one, two, t, H)
    rate = (force(one, two) - f) / H
    for mass, state, sign in zip((one, two), states, (1, -1), strict=True):
        mass.slave.setFMUstate(state)
        mass.step(t, H, sign * f, sign * rate)
        mass.slave.freeFMUstate(state)


WAYS: dict[str, Callable[[Mass, Mass, float, float], None]] = {"held": held, "linear": linear, "repeated": repeated}


def coupled(unpacked: list[Path], way: str, H: float) -> np.ndarray:
    """(n, 2) positions of both masses at the communication points."""
    with ExitStack() as stack:
        one, two = map(Mass, unpacked)
        for mass in (one, two):
            stack.callback(mass.free)
        rows = [(one.x, two.x)]
        for k in range(round(STOP / H)):
            WAYS[way](one, two, k * H, H)
            rows.append((one.x, two.x))
    return np.array(rows)


def exact(H: float) -> np.ndarray:
    """(n, 2) the same positions of both masses together."""
    k, d = BETWEEN * np.array([[1, -1], [-1, 1]]), DAMPING * np.array([[1, -1], [-1, 1]])
    inverse = np.diag(1.0 / np.array(MASSES))
    A = np.block([[np.zeros((2, 2)), np.eye(2)], [-inverse @ (k + STIFFNESS * np.eye(2)), -inverse @ d]])
    step, state = expm(A * H), np.array([*START, 0.0, 0.0])
    rows = [state]
    for _ in range(round(STOP / H)):
        rows.append(step @ rows[-1])
    return np.array(rows)[:, :2]


def orders(errors: list[float]) -> list[float]:
    """The order between each step and its half."""
    return [float(np.log2(a / b)) for a, b in pairwise(errors)]


def draw(errors: dict[str, list[float]], path: Path) -> None:
    import matplotlib.pyplot as plt

    figure, axis = plt.subplots(figsize=(6, 4), layout="constrained")
    for (way, values), style in zip(errors.items(), ("o-", "s-", "^-"), strict=True):
        axis.loglog(STEPS, values, style, label=way)
    for power, start in ((1, errors["held"][-1]), (2, errors["linear"][-1])):
        line = [0.5 * start * (H / STEPS[-1]) ** power for H in STEPS]
        axis.loglog(STEPS, line, "k:", linewidth=0.8)
        axis.annotate(f"order {power}", (STEPS[3], line[3]), xytext=(4, -10), textcoords="offset points")
    axis.set_xlabel("communication step H [s]")
    axis.set_ylabel("largest error of a position [m]")
    axis.legend()
    axis.grid(which="both", alpha=0.2)
    figure.savefig(path, dpi=120)
    plt.close(figure)


def main(folder: Path) -> dict[str, list[float]]:
    """Prints and draws the error of each way for each communication step."""
    folder.mkdir(parents=True, exist_ok=True)
    pairs = zip(MASSES, START, strict=True)
    fmus = [fm.export_fmu(model(*pair), folder / f"mass{i}.fmu") for i, pair in enumerate(pairs, 1)]
    unpacked = [Path(extract(fmu, fmu.resolve().with_suffix(""))) for fmu in fmus]
    errors = {way: [float(np.abs(coupled(unpacked, way, H) - exact(H)).max()) for H in STEPS] for way in WAYS}
    print(f"{'H [s]':>10} {''.join(f'{way:>12}' for way in errors)}")
    for i, H in enumerate(STEPS):
        print(f"{H:10.6f} {''.join(f'{values[i]:12.3e}' for values in errors.values())}")
    print(f"{'order':>10} {''.join(f'{orders(values)[-1]:12.2f}' for values in errors.values())}")
    draw(errors, folder / "coupling.png")
    return errors


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path("coupling_study"))
