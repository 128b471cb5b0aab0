"""Optimal motions by CasADi and IPOPT: an arm between two positions, and one turn of a four-bar, with the least torque.

CasADi reads the FMU for Model Exchange and takes its derivatives: the Jacobian from the FMU, the Hessian from that. The
motion is a collocation by trapezoids: states and torques at N + 1 instants, x[k+1] - x[k] = h (f[k] + f[k+1]) / 2. The
four-bar is exported with independent states, the angle and the velocity of its crank: the optimiser places them
anywhere, and the FMU closes the loop there. Needs CasADi: pip install casadi. SI units, angles in rad.
"""

import tempfile
import zipfile
from pathlib import Path

import casadi as ca
import matplotlib.pyplot as plt
import numpy as np

import fmumbs as fm
from fmumbs.readers import read_model

MOST = 100  # iterations of IPOPT


def dae_of(model: fm.Model, fmi: int = 2) -> ca.DaeBuilder:
    """The FMU of a model in CasADi, which needs its folder until the process ends."""
    folder = Path(tempfile.mkdtemp())
    path = fm.export_fmu(model, folder / "model.fmu", kind="me", fmi=fmi, states="independent", platforms=["linux64"])
    with zipfile.ZipFile(path) as archive:
        archive.extractall(folder / "model")
    return ca.DaeBuilder(model.name, str(folder / "model"))


def rates_of(model, fmi=2):
    """x_dot of (states, instants) x and (torques, instants) u in CasADi, by the FMU of a model."""
    one_way = {"max_num_dir": 1}  # CasADi 3.8.2 has several adjoint directions of an FMU of FMI 3.0 at once wrong
    f = dae_of(model, fmi).create("f", ["x", "u"], ["ode"], one_way)
    return lambda x, u: ca.horzcat(*[f(x[:, k], u[:, k]) for k in range(x.shape[1])])


def arm() -> fm.Model:
    """Six joints, a torque on each."""
    model = read_model("arm6")
    for i in range(1, 7):
        model.input(f"torque{i}", to=f"J{i}.tau")
    return model


def four_bar() -> fm.Model:
    """A torque on its crank."""
    model = read_model("four_bar")
    model.input("torque", to="A.tau")
    return model


def blend(start, end, duration, instants):
    """Positions (instants, n) from rest to rest, their velocities and accelerations."""
    s = np.linspace(0, 1, instants)[:, None]
    way = np.asarray(end) - start
    velocity, acceleration = way * (6 * s - 6 * s**2) / duration, way * (6 - 12 * s) / duration**2
    return start + way * (3 * s**2 - 2 * s**3), velocity, acceleration


def optimise(rates, start, end, duration, steps, torque, guess=None):
    """The motion from rest at `start` to rest at `end` with the least integral of squared torques.

    rates: as of rates_of; torque: their size [N.m]; guess: (steps + 1, n) torques to begin with. Returns times, states,
    torques, a report.
    """
    h, n = duration / steps, len(start)
    q, qd, _ = blend(start, end, duration, steps + 1)
    opti = ca.Opti()
    x, u = opti.variable(2 * n, steps + 1), opti.variable(n, steps + 1)
    f = rates(x, torque * u)
    opti.subject_to(ca.vec(x[:, 1:] - x[:, :-1]) == ca.vec(h / 2 * (f[:, 1:] + f[:, :-1])))
    opti.subject_to(x[:, 0] == [*start, *np.zeros(n)])
    opti.subject_to(x[:, steps] == [*end, *np.zeros(n)])
    opti.minimize(h * ca.sumsqr(u))
    opti.set_initial(x, np.hstack([q, qd]).T)
    if guess is not None:
        opti.set_initial(u, np.asarray(guess).T / torque)
    opti.solver("ipopt", {"print_time": False}, {"max_iter": MOST, "print_level": 0, "sb": "yes"})
    found = opti.solve()
    u = np.reshape(found.value(u), (n, -1)) * torque
    return np.linspace(0, duration, steps + 1), found.value(x), u, found.stats()


def turn_of_four_bar(rates_of=rates_of, steps=30):
    """One turn of the crank in a second."""
    return optimise(rates_of(four_bar()), [-1.2], [-1.2 + 2 * np.pi], 1.0, steps, 0.1)


def swing_of_arm(rates_of=rates_of, steps=12):
    """All six joints in a second and a half; begins with the torques of a smooth motion, by inverse dynamics."""
    model, start, end = arm(), np.zeros(6), np.array([0.5, 0.8, -0.6, 0.5, 0.4, -0.3])
    guess = fm.inverse_dynamics(model, *blend(start, end, 1.5, steps + 1))
    return optimise(rates_of(model), start, end, 1.5, steps, 10.0, guess)


if __name__ == "__main__":
    figure, axes = plt.subplots(2, 1, figsize=(7, 6), layout="constrained")
    for ax, (name, motion) in zip(axes, (("four_bar", turn_of_four_bar), ("arm6", swing_of_arm)), strict=True):
        times, states, torques, report = motion()
        ax.plot(times, torques.T)
        ax.set(title=name, xlabel="time [s]", ylabel="torques [N.m]")
        print(f"{name}: {report['return_status']} after {report['iter_count']} iterations,", end=" ")
        print(f"largest torque {np.abs(torques).max():.4g} N.m")
    figure.savefig("optimal_motion.png", dpi=100)
