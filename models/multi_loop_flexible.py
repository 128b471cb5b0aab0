"""Three storeys of pendulum legs with flexible floors, hung from above: three loops. SI units, angles in rad.

After the second example of Zhang, Rui and others, A framework for establishing constraint Jacobian matrices of planar
rigid-flexible multibody systems (2023), whose dimensions are not printed: several closed loops, three beams of two
modes each, gravity alone. The legs of a storey hang from the ends of the floor above.
"""

import numpy as np

import fmumbs as fm


def build(storeys=3, leg=1.0, skew=1.2, floor=1.0, mass=1.0, EI=20.0, modes=2, angle=0.4) -> fm.Model:
    """Number of storeys; lengths [m], mass of each part [kg]; EI [N.m2] and modes of the floors.

    skew: length of the right legs over that of the left ones, 1 for parallelograms, which need no loop correction.
    angle: of the legs of odd storeys to the vertical at the start [rad]; those of even ones have its opposite.
    """
    model = fm.Model("multi_loop_flexible", gravity=(0, -9.81, 0), description="Storeys of legs, flexible floors.")
    left, right = model.ground.at(), model.ground.at(floor, 0, 0)
    for i in range(1, storeys + 1):
        legs = [fm.Body.rod(f"leg{i}{side}", length=k * leg, mass=mass) for side, k in (("L", 1.0), ("R", skew))]
        beam = fm.ModalBody.beam(f"floor{i}", length=floor, mass=mass, EI=EI, modes=modes, boundary="pinned-pinned")
        start = -np.pi / 2 + (angle if i % 2 else -angle)
        slope, right_leg = followers(leg, skew * leg, floor, start)
        L = fm.Revolute(f"L{i}", left, legs[0].base, axis="z", q0=start)
        F = fm.Revolute(f"F{i}", legs[0].tip, beam.base, axis="z", q0=slope - start)
        R = fm.Revolute(f"R{i}", right, legs[1].base, axis="z", q0=right_leg)
        C = fm.Revolute(f"C{i}", beam.tip, legs[1].tip, axis="z")  # closes the storey
        model.add(*legs, beam, L, F, R, C)
        left, right = beam.base, beam.tip
    model.experiment(stop=20.0, interval=0.01)
    return model


def followers(left, right, floor, start) -> tuple[float, float]:
    """Angles of a floor and its right leg against the floor above, where the left leg's is `start`."""
    tip = left * np.exp(1j * start)
    way = floor - tip
    cosine = (floor**2 + abs(way) ** 2 - right**2) / (2 * floor * abs(way))
    slope = np.angle(way) + (-1 if start > -np.pi / 2 else 1) * np.arccos(np.clip(cosine, -1, 1))
    return float(slope), float(np.angle(tip + floor * np.exp(1j * slope) - floor))


if __name__ == "__main__":
    fm.simulate(build(), stop=20.0).plot("L1.q", "L2.q", "L3.q")
    fm.export_fmu(build(), "fmus/multi_loop_flexible.fmu")
