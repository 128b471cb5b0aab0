"""A beam spun up about a hinge at its base: it lags, and centrifugal force stiffens it. SI units, angles in rad.

The benchmark of Kane, Ryan and Banerjee with the data of Simo and Vu-Quoc (1986): the hinge turns by

    psi(t) = (w / T) (t^2 / 2 + (T / 2 pi)^2 (cos(2 pi t / T) - 1))   until T, then w (t - T / 2)

A linear modal beam diverges, because what stiffens it is its shortening; a chain of rigid finite elements has that.
Its tip lags by up to 0.6 m and comes back. With stretch it is 5.14e-4 m longer at the end.
"""

import numpy as np

import fmumbs as fm

LENGTH, SPEED, TIME = 10.0, 6.0, 15.0  # [m], [rad/s], [s]
SECTION, MATERIAL = fm.Section(1e-3, 5e-7, 5e-7, 1e-6), fm.Material(E=2.8e10, density=1200.0)
KNOTS = 60  # of the path: the error of its quintics is below 1e-10 rad


def build(elements=10, stretch=False, damping=0.0) -> fm.Model:
    """Number of elements; whether it stretches; retardation time [s]."""
    model = fm.Model("spin_up_beam", gravity=(0, 0, 0), description="A beam spun up about a hinge at its base")
    beam = fm.FlexibleLink(
        "beam",
        length=LENGTH,
        section=SECTION,
        material=MATERIAL,
        damping=damping,
        elements=elements,
        plane="xy",
        stretch=stretch,
    )
    turning = fm.Turn("z", role="excited", path=spin_up())
    model.add(beam, fm.Joint("hinge", model.ground.at(), beam.base, modes=(turning,)))
    model.experiment(stop=20.0, interval=0.05)
    return model


def spin_up() -> fm.Path:
    t, k = np.linspace(0.0, TIME, KNOTS + 1), 2 * np.pi / TIME
    positions = SPEED / TIME * (t**2 / 2 + (np.cos(k * t) - 1) / k**2)
    velocities = SPEED / TIME * (t - np.sin(k * t) / k)
    return fm.Path.quintic(t, positions, velocities, SPEED / TIME * (1 - np.cos(k * t)))


if __name__ == "__main__":
    fm.simulate(build(), stop=20.0).plot("beam_tip.q[2]")
    fm.export_fmu(build(), "fmus/spin_up_beam.fmu")
