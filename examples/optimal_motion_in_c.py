"""Optimal motions as in optimal_motion.py, with C functions of the mechanism in place of an FMU.

`fm.export_casadi` writes the rates of the states, the outputs and a step of rk4 as functions that CasADi loads, with
derivatives, and that acados can compile into its solvers. Several threads evaluate them at once. Needs CasADi and a C
compiler: pip install casadi.
"""

import tempfile

import casadi as ca
import matplotlib.pyplot as plt
import numpy as np
from optimal_motion import MOST, arm, blend, four_bar

import fmumbs as fm


def rates_of(model):
    """x_dot(x, u) in CasADi, with the parameters of the model."""
    made = fm.export_casadi(model, tempfile.mkdtemp())
    f = ca.external(f"{made.name}_x_dot", str(made.library))
    return lambda x, u: f(x, u, np.tile(made.p0[:, None], x.shape[1]))


def optimise(rates, start, end, duration, steps, torque, guess=None):
    """As in optimal_motion.py."""
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


def turn_of_four_bar(steps=30):
    """One turn of the crank in a second."""
    return optimise(rates_of(four_bar()), [-1.2], [-1.2 + 2 * np.pi], 1.0, steps, 0.1)


def swing_of_arm(steps=12):
    """All six joints in a second and a half."""
    model, start, end = arm(), np.zeros(6), np.array([0.5, 0.8, -0.6, 0.5, 0.4, -0.3])
    guess = fm.inverse_dynamics(model, *blend(start, end, 1.5, steps + 1))
    return optimise(rates_of(model), start, end, 1.5, steps, 10.0, guess)


if __name__ == "__main__":
    times, _, torques, report = turn_of_four_bar()
    print(f"four_bar: {report['return_status']} after {report['iter_count']} iterations,", end=" ")
    print(f"largest torque {np.abs(torques).max():.4g} N.m")
    figure, axis = plt.subplots(figsize=(7, 3.5), layout="constrained")
    axis.plot(times, torques[0])
    axis.set(xlabel="time [s]", ylabel="torque on the crank [N.m]", title="A turn of a four-bar by C functions")
    figure.savefig("optimal_motion_in_c.png", dpi=100)
