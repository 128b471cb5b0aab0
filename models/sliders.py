"""A chain of five rods between two pins, the middle one flexible, with sliders on the others. SI units, angles in rad.

After the third example of Zhang, Rui and others, A framework for establishing constraint Jacobian matrices of planar
rigid-flexible multibody systems (2023), whose dimensions are not printed. With five pins, four slides and a closing pin
the mobility is seven, not counting the modes. Rods of 1 m and 1 kg; springs and dampers keep the sliders on the rods.
"""

import numpy as np

import fmumbs as fm

LEFT = {1: -1.15, 2: -0.65, 3: 0.35}  # angles of rods at the start, from the first pin on; rods 5, 4 then meet them


def build(
    length=1.0, mass=1.0, EI=20.0, modes=2, slider=0.5, stiffness=200.0, damping=2.0, span=3.4, rise=0.3
) -> fm.Model:
    """Rods [m], [kg]; the beam's EI [N.m2] and modes; sliders [kg] on springs [N/m] and dampers [N.s/m].

    span, rise: position of the last pin to the right of the first and above it [m].
    """
    model = fm.Model("sliders", gravity=(0, -9.81, 0), description="A chain of rods, one flexible, with sliders.")
    ends = []
    way = (length * sum(np.exp(1j * angle) for angle in LEFT.values()) - span - 1j * rise) / length
    bend = np.arccos(np.clip(abs(way) / 2, -1, 1))
    right = {5: float(np.angle(way) + bend), 4: float(np.angle(way) - bend)}
    for pin, chain in ((model.ground.at(), LEFT), (model.ground.at(span, rise, 0), right)):
        at, before = pin, 0.0
        for i, angle in chain.items():
            if i == 3:
                rod = fm.ModalBody.beam("rod3", length=length, mass=mass, EI=EI, modes=modes, boundary="pinned-pinned")
            else:
                rod = fm.Body.rod(f"rod{i}", length=length, mass=mass)
            model.add(rod, fm.Revolute(f"J{i}", at, rod.base, axis="z", q0=angle - before))
            if i != 3:
                block = fm.Body.box(f"slider{i}", size=(0.1, 0.06, 0.06), mass=slider)
                F, M = rod.at(length / 2), block.at(0.05, 0, 0)
                model.add(block, fm.Prismatic(f"S{i}", F, M, axis="x", stiffness=stiffness, damping=damping))
            at, before = rod.tip, angle
        ends.append(at)
    model.add(fm.Revolute("J6", *ends, axis="z"))  # closes the loop
    model.experiment(stop=20.0, interval=0.01)
    return model


if __name__ == "__main__":
    fm.simulate(build(), stop=20.0).plot("S1.q", "rod3.q[1]")
    fm.export_fmu(build(), "fmus/sliders.fmu")
