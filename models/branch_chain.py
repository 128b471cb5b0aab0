"""Branch of many rods on spherical joints, two chains that join in one, at rest. SI units.

The large example of the Riccati transfer matrix method (section 5.2 of its paper), with the paper's numbers:
rods 1, 3, 5 ... N = 2 bodies - 1. Rods 1, 3 are the left chain and 5, 7, 9 the right one, rod 11 has both as
its inputs, and rods 13 to N lead to the ceiling.

             ceiling
                |
              rodN
                :
              rod13
                |
    left =====rod11===== right
      |                    |
     rod3                 rod9
      |                    |
     rod1                 rod7
                           |
                          rod5

As in the paper, all rods hang straight down but rod 11, which starts horizontal, along x, and hangs by its
middle; the longer right chain pulls it over. The paper takes its rods from section 5.1; here they are full
cylinders, since one without axial inertia cannot hang on a ball joint.
"""

from math import sqrt

import fmumbs as fm

_HALF = sqrt(0.5)
_DOWN = (_HALF, 0.0, 0.0, -_HALF)  # from a rod along x to one that hangs along -y
_ACROSS = (_HALF, 0.0, 0.0, _HALF)  # and back


def build(bodies=500, left=2, right=3, length=1.0, mass=1.0, radius=0.05) -> fm.Model:
    """Number of bodies in all and in the lower chains; length, radius [m] and mass [kg] of every rod."""
    upper = bodies - left - right - 1
    if min(left, right, upper) < 1:
        raise fm.ModelError(
            f"branch_chain: {bodies} bodies, {left} left and {right} right, leave {upper} for the upper "
            f"chain, but each has at least one. Give at least {max(left, 1) + max(right, 1) + 2} bodies."
        )
    model = fm.Model("branch_chain", gravity=(0, -9.81, 0), description="Branch of rods on spherical joints")
    rods = [fm.Body.rod(f"rod{2 * i + 1}", length=length, mass=mass, radius=radius) for i in range(bodies)]
    joining = rods[left + right]
    end = _hang(model, model.ground.at(0, 0, 0), rods[: left + right : -1], _DOWN)
    hinge = fm.Spherical(_above(joining), end, joining.at(length / 2, 0, 0), q0=_ACROSS)
    model.add(joining, hinge)
    _hang(model, joining.base, rods[left - 1 :: -1], _DOWN)
    _hang(model, joining.tip, rods[left + right - 1 : left - 1 : -1], _DOWN)
    _show(model, (rods[0], joining, rods[-1]))
    model.experiment(stop=5.0, interval=0.01)
    return model


def _hang(model: fm.Model, end: fm.Point, rods: list[fm.Body], q0: tuple[float, ...]) -> fm.Point:
    """Hangs rods one below the other from a point, the first turned by q0. Returns the lowest tip."""
    for rod in rods:
        model.add(rod, fm.Spherical(_above(rod), end, rod.base, q0=q0))
        end, q0 = rod.tip, (1.0, 0.0, 0.0, 0.0)
    return end


def _above(rod: fm.Body) -> str:
    """The paper's number of the hinge that a rod hangs on: one more than the rod's own."""
    return f"hinge{int(rod.name[3:]) + 1}"


def _show(model: fm.Model, rods: tuple[fm.Body, ...]) -> None:
    """The outputs: orientation and angular velocity of the rods that the paper plots, and the energy."""
    for rod in rods:
        for variable, size in (("quat", 4), ("w", 3)):
            for i in range(1, size + 1):
                model.output(f"{rod.name}.{variable}[{i}]", of=f"{rod.name}.{variable}[{i}]")
    model.output("solver.energy", of="solver.energy")


if __name__ == "__main__":
    fm.simulate(build(), stop=5.0).plot("rod11.w[3]")
    fm.export_fmu(build(), "fmus/branch_chain.fmu")
