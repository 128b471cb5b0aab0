"""Optimal motions as in optimal_motion.py, with C functions of the mechanism in place of an FMU.

`fm.export_casadi` writes the rates of the states, the outputs and a step of rk4 as functions that CasADi loads, with
derivatives, and that acados can compile into its solvers. Several threads evaluate them at once. Needs CasADi and a C
compiler: pip install casadi.
"""

import tempfile

import casadi as ca
import matplotlib.pyplot as plt
import numpy as np
from optimal_motion import turn_of_four_bar

import fmumbs as fm


def rates_of(model):
    """As in optimal_motion.py, by C functions with the parameters of the model."""
    made = fm.export_casadi(model, tempfile.mkdtemp())
    f = ca.external(f"{made.name}_x_dot", str(made.library))
    return lambda x, u: f(x, u, np.tile(made.p0[:, None], x.shape[1]))


if __name__ == "__main__":
    times, _, torques, report = turn_of_four_bar(rates_of)
    print(f"four_bar: {report['return_status']} after {report['iter_count']} iterations,", end=" ")
    print(f"largest torque {np.abs(torques).max():.4g} N.m")
    figure, axis = plt.subplots(figsize=(7, 3.5), layout="constrained")
    axis.plot(times, torques[0])
    axis.set(xlabel="time [s]", ylabel="torque on the crank [N.m]", title="A turn of a four-bar by C functions")
    figure.savefig("optimal_motion_in_c.png", dpi=100)
