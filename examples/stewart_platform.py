"""A Stewart platform heaves and rolls: lengths and forces of its legs, against the inverse kinematics.

Each leg is a cylinder on a universal joint with a rod that slides in it, on a ball below the platform. The motion of
the platform is given, height and roll; the drives of the legs realise it, so their forces are those of the hydraulics.

The length of a leg is |centre + R p - b|, with its ends p on the platform and b on the ground, and the power of all
drives is the rate of the energy. SI units, z up.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.integrate import cumulative_simpson

import fmumbs as fm

HEIGHT, LOAD = 1.6, 1500.0  # at the start [m], [kg]
HEAVE = fm.Path.quintic([0.0, 1.0, 3.0], [HEIGHT, HEIGHT + 0.25, HEIGHT - 0.15])
ROLL = fm.Path.quintic([0.5, 1.5, 2.5], [0.0, 0.25, -0.25])
LOW, HIGH = np.radians([-8, 8, 112, 128, 232, 248]), np.radians([-52, 52, 68, 172, 188, 292])  # on two circles
BELOW, ABOVE = (r * np.array([np.cos(a), np.sin(a), 0 * a]).T for r, a in ((2.0, LOW), (1.2, HIGH)))  # (6, 3) [m]


def build() -> fm.Model:
    """Six legs; the compiler cuts the loops."""
    model = fm.Model("stewart_platform", description="A platform on six legs that follows a motion.")
    platform = fm.Body.cylinder("platform", length=0.2, radius=1.2, mass=LOAD, along="z")
    model.add(platform)
    for i, (b, p) in enumerate(zip(BELOW, ABOVE, strict=True), 1):
        x = p - b + (0, 0, HEIGHT)
        y = np.cross((0, 0, 1), x)
        axes = fm.Rotation.columns(*(one / np.linalg.norm(one) for one in (x, y, np.cross(x, y))))
        cylinder = fm.Body.rod(f"cylinder{i}", length=0.9, mass=30.0, radius=0.06)
        rod = fm.Body.rod(f"rod{i}", length=0.9, mass=12.0, radius=0.03)
        foot = fm.Universal(f"foot{i}", model.ground.at(*b, rotation=axes), cylinder.base, axes=("y", "z"))
        leg = fm.Prismatic(f"leg{i}", cylinder.base, rod.tip, axis="x", q0=float(np.linalg.norm(x)))
        model.add(cylinder, rod, foot, leg, fm.Spherical(f"ball{i}", rod.tip, platform.at(*p)))
    legs = [model[f"leg{i}"] for i in range(1, 7)]
    model.add(fm.ProgrammedPoint("place", platform.at(), path=(0.0, 0.0, HEAVE), drives=legs[:3]))
    model.add(fm.ProgrammedOrientation("attitude", platform.at(), path=(ROLL, 0.0, 0.0), drives=legs[3:]))
    return model


if __name__ == "__main__":
    result = build().simulate(stop=3.0, interval=0.005, tolerance=1e-11)
    lengths, speeds = (np.array([result[f"leg{i}.{what}"] for i in range(1, 7)]) for what in ("q", "qd"))
    forces = np.hstack([result["place.drive"], result["attitude.drive"]]).T
    for t, found in zip(result.time, lengths.T, strict=True):
        ends = ABOVE @ fm.Rotation.about("x", ROLL(t)[0]).matrix.T + (0, 0, HEAVE(t)[0])
        assert np.abs(found - np.linalg.norm(ends - BELOW, axis=1)).max() < 1e-9
    work, energy = cumulative_simpson((forces * speeds).sum(axis=0), x=result.time), result["solver.energy"]
    error = np.abs(work - (energy[1:] - energy[0])).max()
    print(f"legs {lengths.min():.4f} to {lengths.max():.4f} m, forces {forces.min():.0f} to {forces.max():.0f} N")
    print(f"work of the drives up to {work.max():.1f} J, off the energy by {error:.0e} J")
    assert error < 1e-7 * work.max()  # Simpson's rule's
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.5), layout="constrained")
    left.plot(result.time, lengths.T)
    left.set(xlabel="time [s]", ylabel="length of the legs [m]")
    right.plot(result.time, forces.T / 1e3)
    right.set(xlabel="time [s]", ylabel="force of the legs [kN]")
    figure.savefig("stewart_platform.png", dpi=100)
