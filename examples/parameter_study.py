"""A parameter study: the best damper of a vibrating machine, against Den Hartog's formula.

A measuring machine of 500 kg stands on springs on a floor that shakes. A small mass on a spring and a damper, tuned to
it, takes the vibration away at one frequency and leaves a resonance on either side. Which spring and damper make the
larger one smallest? As on a test bench the floor's frequency rises slowly through both, so the greatest motion of a run
is what counts. `fm.sweep` makes a run for each pair of values, on all processors unless told otherwise, and writes one
row a run to a Parquet file; a sweep that is interrupted continues there.

Den Hartog (Mechanical Vibrations, 1956) has the answer for a machine without damping of its own: with the ratio mu of
the masses the best tuning is 1 / (1 + mu), the best damping ratio of the small mass sqrt(3 mu / 8 / (1 + mu)), and the
machine then moves by at most sqrt(1 + 2 / mu) times what the floor does. SI units.
"""

import matplotlib.pyplot as plt
import numpy as np

import fmumbs as fm

MASS, MU, W, SHAKE = 500.0, 0.05, 2 * np.pi * 8.0, 1e-4  # [kg], ratio, frequency of the machine [rad/s], floor [m]
TUNING, DAMPING = 1 / (1 + MU), float(np.sqrt(3 * MU / 8 / (1 + MU)))  # Den Hartog's
FACTORS = (0.9, 0.95, 1.0, 1.05, 1.1)
TIME = 200.0  # of a run [s]


def build(tuning: float = TUNING, damping: float = DAMPING) -> fm.Model:
    """tuning: frequency of the small mass over that of the machine; damping: its damping ratio."""
    model = fm.Model("machine", gravity=(0, 0, 0))
    floor, machine, small = (
        fm.Body.box(name, size=(1, 1, 0.5), mass=mass, along="z")
        for name, mass in (("floor", 1e4), ("machine", MASS), ("small", MU * MASS))
    )
    phase = (0.0, 0.7 * W, 0.25 * W / TIME)  # of a sine from 0.7 to 1.2 times the machine's frequency
    shaking = fm.Path((0.0,), (phase,), wave=(0.0, SHAKE, 0.0))
    rock = fm.Joint("rock", model.ground.at(), floor.base, modes=[fm.Slide("z", role="excited", path=shaking)])
    springs = fm.Prismatic("springs", floor.base, machine.base, axis="z", stiffness=MASS * W**2)
    laws = {"stiffness": MU * MASS * (tuning * W) ** 2, "damping": 2 * damping * MU * MASS * tuning * W}
    model.add(floor, machine, small, rock, springs, fm.Prismatic("damper", machine.base, small.base, axis="z", **laws))
    return model


grid = {"tuning": [TUNING * f for f in FACTORS], "damping": [DAMPING * f for f in (0.25, 0.5, 1.0, 1.5, 2.5)]}
runs = fm.sweep(build, "machine.parquet", grid=grid, keep=["absmax:machine.r[3]"], stop=TIME, interval=0.02, workers=0)
moves = runs["absmax:machine.r[3]"] / SHAKE
best, theory = int(moves.argmin()), float(np.sqrt(1 + 2 / MU))
print(f"{runs.runs} runs; at best the machine moves {moves[best]:.3f} times as much as the floor ({theory:.3f}),")
print(f"with tuning {runs['tuning'][best]:.4f} ({TUNING:.4f}) and damping {runs['damping'][best]:.4f} ({DAMPING:.4f})")
assert (runs["tuning"][best], runs["damping"][best]) == (TUNING, DAMPING)
assert abs(moves[best] - theory) < 0.01 * theory
figure, axis = plt.subplots(figsize=(6, 4), layout="constrained")
for tuning in grid["tuning"]:
    chosen = runs["tuning"] == tuning
    axis.plot(runs["damping"][chosen], moves[chosen], "o-", label=f"tuning {tuning:.3f}")
axis.axhline(theory, color="k", linestyle=":", label="Den Hartog")
axis.set(xlabel="damping ratio", ylabel="machine / floor")
axis.legend()
figure.savefig("parameter_study.png", dpi=100)
