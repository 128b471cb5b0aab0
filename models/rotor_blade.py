"""A rotor blade that spins up on its hub, flaps and lags; centrifugal force stiffens it. SI units, angles in rad.

At rest it flaps at 7.03 rad/s and lags at 31.4. With the unit sqrt(EI / m L^3) = 2 rad/s it turns at 12 in the end, on
a hub without radius, where it flaps at 13.17 units; without stiffening it would flap at 3.5.
"""

import numpy as np

import fmumbs as fm

LENGTH, MASS, FLAP, LAG = 5.0, 40.0, 2e4, 4e5  # [m], [kg], [N.m2]
SPEED, TIME = 24.0, 10.0  # [rad/s] after [s]


def build(modes: int = 3, hub: float = 0.0, speed: float = SPEED) -> fm.Model:
    """Modes in each plane; radius of the hub [m]; speed in the end [rad/s]."""
    model = fm.Model("rotor_blade", description="A rotor blade that spins up, flaps and lags.")
    blade = fm.ModalBody.beam(
        "blade", length=LENGTH, mass=MASS, EI=(FLAP, LAG), modes=modes, plane=None, axial_inertia=0.2,
        damping_ratio=0.005, stiffening=True,
    )  # fmt: skip
    k = np.pi / TIME
    times = np.linspace(0.0, TIME, 41)
    angle = speed / 2 * (times - np.sin(k * times) / k)
    path = fm.Path.quintic(times, angle, speed / 2 * (1 - np.cos(k * times)), speed / 2 * k * np.sin(k * times))
    turn, arm = fm.Turn("z", role="excited", path=path), fm.Slide("x", role="locked", value=hub)
    mast = fm.Joint("mast", model.ground.at(), blade.at(), modes=[turn, arm])
    lift = fm.Load("lift", blade.tip, force=(0, 0, 300.0), axes="point")
    model.add(blade, mast, lift)
    model.experiment(stop=14.0, interval=0.01)
    return model


if __name__ == "__main__":
    fm.simulate(build()).plot("blade.tip.r[3]", "blade.q")
    fm.export_fmu(build(), "fmus/rotor_blade.fmu")
