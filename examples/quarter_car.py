"""A quarter car over a rough road: a measured profile as an input, and what its interpolation is worth.

    python examples/quarter_car.py [FOLDER]

Body and wheel move about their equilibrium. The road is of class C of ISO 8608, G(n) = 256e-6 m^3 (n / 0.1)^-2 over n
[cycles/m], as waves of random phases. The tyre's patch levels short waves: a filter of PATCH [rad/s]. SI units.
"""

import sys
from pathlib import Path

import numpy as np

import fmumbs as fm

SPEED, STOP, PATCH = 20.0, 2.0, 330.0  # [m/s], [s], half a patch of 6 cm
WAVES = np.linspace(0.01, 3.0, 300)  # [cycles/m]
PHASES = np.random.default_rng(8608).uniform(0, 2 * np.pi, len(WAVES))
TIMES = np.linspace(0, STOP, 401)  # of the results


def road(t: np.ndarray) -> np.ndarray:
    """The height under the wheel [m], which fades in over the first second."""
    height = np.sqrt(2 * 256e-6 * (WAVES / 0.1) ** -2 * (WAVES[1] - WAVES[0]))
    x = np.clip(t, 0, 1)
    return x**3 * (10 - 15 * x + 6 * x**2) * (np.cos(2 * np.pi * np.outer(SPEED * t, WAVES) + PHASES) @ height)


def build() -> fm.Model:
    """400 kg on a spring and damper, on 40 kg on a tyre, on a road that the input road.eta_in moves."""
    model = fm.Model("quarter_car", gravity=(0, 0, 0), description="Body and wheel over a road.")
    patch, wheel, body = fm.Body("patch", mass=1.0), fm.Body("wheel", mass=40.0), fm.Body("body", mass=400.0)
    vertical = fm.Slide("z", role="excited", input="eta", cutoff=PATCH)
    model.add(patch, wheel, body, fm.Joint("road", model.ground.at(), patch.at(), modes=[vertical]))
    model.add(fm.Prismatic("tyre", patch.at(), wheel.at(0, 0, -0.3), axis="z", stiffness=2e5))
    model.add(fm.Prismatic("suspension", wheel.at(), body.at(0, 0, -0.4), axis="z", stiffness=2e4, damping=1.5e3))
    return model


def ride(interval: float, interpolation: str, tolerance: float = 1e-9) -> np.ndarray:
    """(401,) acceleration of the body [m/s2] over a table of the road with a row every interval [s]."""
    t = np.linspace(0, STOP, round(STOP / interval) + 1)
    profile = {"road.eta_in": fm.Signal(t, road(t), interpolation)}
    return fm.simulate(build(), times=TIMES, inputs=profile, tolerance=tolerance, outputs=["body.a"])["body.a[3]"]


if __name__ == "__main__":
    import matplotlib.pyplot as plt

    intervals, exact = [4e-3, 2e-3, 1e-3, 5e-4], ride(2.5e-4, "cubic", 1e-12)
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    left.plot(TIMES, exact, linewidth=0.8)
    left.set(xlabel="time [s]", ylabel="acceleration of the body [m/s2]", title=f"{SPEED:g} m/s, road of class C")
    for name in ("hold", "linear", "cubic"):
        errors = [abs(ride(h, name) - exact).max() for h in intervals]
        print(f"{name:8} error {errors[0]:.0e} to {errors[-1]:.0e}, order {np.log2(errors[0] / errors[-1]) / 3:.1f}")
        right.loglog(intervals, errors, "o-", label=name)
    right.set(xlabel="interval of the table [s]", ylabel="largest error [m/s2]")
    right.legend()
    figure.savefig(Path(sys.argv[1] if len(sys.argv) > 1 else ".") / "quarter_car.png", dpi=120)
