"""Estimating a mass and a damping from measurements, by CasADi and the FMU's derivatives.

A double pendulum is driven by a known torque; its two angles are measured every 10 ms with an error of 2 mrad. The mass
of its lower link and the damping of its lower joint are parameters of the FMU, which CasADi sets while it integrates by
Runge-Kutta steps; their derivatives come from the FMU. Gauss-Newton's method fits both. What it leaves of the residuals
gives the standard deviations, in which the true values lie. Needs CasADi: pip install casadi. SI units, angles in rad.
"""

import tempfile
import zipfile
from pathlib import Path

import casadi as ca
import matplotlib.pyplot as plt
import numpy as np

import fmumbs as fm

MASS, DAMPING = 1.3, 0.08  # true values [kg, N.m.s/rad]
GUESS = (0.8, 0.02)
STEP, STEPS, NOISE = 0.01, 150, 2e-3  # [s, 1, rad]


def build(mass: float, damping: float) -> fm.Model:
    """The pendulum: its input is the upper torque, its outputs are the states."""
    model = fm.Model("pendulum")
    upper = fm.Body.rod("upper", length=0.5, mass=1.0, along="-z")
    lower = fm.Body("lower", mass=mass, com=(0, 0, -0.3), inertia=(0.02, 0.02, 0.001))  # the mass leaves the inertia
    A = fm.Revolute("A", model.ground.at(), upper.base, axis="y", q0=0.4, damping=0.05)
    B = fm.Revolute("B", upper.tip, lower.at(), axis="y", q0=-0.8, damping=damping)
    model.add(upper, lower, A, B)
    model.input("torque", to="A.tau")
    for name in ("A.q", "B.q", "A.qd", "B.qd"):
        model.output(name, of=name)  # so that the description has their start values
    model.parameter("mass", of="lower.mass")
    model.parameter("damping", of="B.damping")
    return model


def torque(t):
    """[N.m]"""
    return 3.0 * np.sin(4.0 * t)


def measure():
    """(2, STEPS) the angles at the ends of the steps, with errors."""
    solver = fm.Solver(build(MASS, DAMPING), scheme="dop853", tolerance=1e-10)
    solver.assemble()
    angles = []
    for k in range(STEPS):  # the torque of the middle of a step is held, as below
        solver.set("torque", torque((k + 0.5) * STEP))
        solver.step((k + 1) * STEP)
        angles.append(solver.positions)
    return np.array(angles).T + NOISE * np.random.default_rng(1).normal(size=(2, STEPS))


def predictor(fmi=2):
    """(2, STEPS) angles, as a function of the parameters."""
    folder = Path(tempfile.mkdtemp())
    path = fm.export_fmu(build(*GUESS), folder / "model.fmu", kind="me", fmi=fmi, platforms=["linux64"])
    with zipfile.ZipFile(path) as archive:
        archive.extractall(folder / "model")
    dae = ca.DaeBuilder("pendulum", str(folder / "model"))
    f = dae.create("f", ["x", "u", "p"], ["ode"])
    x, u, p = ca.MX.sym("x", 4), ca.MX.sym("u"), ca.MX.sym("p", 2)
    k1 = f(x, u, p)
    k2 = f(x + STEP / 2 * k1, u, p)
    k3 = f(x + STEP / 2 * k2, u, p)
    k4 = f(x + STEP * k3, u, p)
    step = ca.Function("step", [x, u, p], [x + STEP / 6 * (k1 + 2 * k2 + 2 * k3 + k4)])
    torques = torque((np.arange(STEPS) + 0.5) * STEP)[None, :]
    states = step.mapaccum(STEPS)(dae.start(dae.x()), torques, ca.repmat(p, 1, STEPS))
    return ca.Function("angles", [p], [states[:2, :]]), dae.p()


def estimate(fmi=2):
    """The estimates of mass and damping and their standard deviations."""
    measured, (angles, names) = measure(), predictor(fmi)
    assert names == ["mass", "damping"]
    residual, jacobian = angles, angles.jacobian()
    p = np.array(GUESS)
    for _ in range(20):
        r = (np.array(residual(p)) - measured).T.ravel()
        J = np.array(jacobian(p, 0))
        change = np.linalg.lstsq(J, -r, rcond=None)[0]
        p = p + change
        if np.abs(change).max() < 1e-9:
            break
    variance = r @ r / (len(r) - 2)
    return p, np.sqrt(np.diag(variance * np.linalg.inv(J.T @ J)))


if __name__ == "__main__":
    found, deviation = estimate()
    measured, (angles, _) = measure(), predictor()
    figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
    for row, name in enumerate(("upper", "lower")):
        axes.plot(STEP * np.arange(1, STEPS + 1), measured[row], ".", markersize=3, label=f"{name}, measured")
        axes.plot(STEP * np.arange(1, STEPS + 1), np.array(angles(found))[row], label=f"{name}, estimated")
    axes.set(xlabel="time [s]", ylabel="angle [rad]")
    axes.legend()
    figure.savefig("estimation.png", dpi=100)
    for name, value, error, true in zip(("mass", "damping"), found, deviation, (MASS, DAMPING), strict=True):
        print(f"{name}: {value:.5f} +- {error:.5f}, true {true}")
        assert abs(value - true) < 4 * error
