"""Branch of four equal rods in the x-y plane, at rest. SI units, angles in rad.

The demonstration example of the Riccati transfer matrix method (section 5.1 of its paper), with the paper's
numbers: rods 1, 3, 5, 7, hinges 2, 4, 6.

              ceiling
    left  =======o======= right      rod7, along x
      |                     |
     rod1                  rod5
                            |
                           rod3

The x-axis of each rod points along it, of the hanging ones downwards. The paper takes the angles of rods from
their lower to their upper end: theta7 = q(ceiling), theta1 = pi + q(hinge2) + q(ceiling).
"""

from math import pi

import fmumbs as fm


def build(length=1.0, mass=1.0) -> fm.Model:
    """Length [m] and mass [kg] of every rod; the rods are thin."""
    model = fm.Model("branch_pendulum", gravity=(0, -9.81, 0), description="Branch of four rods in a plane")
    rod1, rod3, rod5, rod7 = (fm.Body.rod(f"rod{i}", length=length, mass=mass) for i in (1, 3, 5, 7))
    ceiling = fm.Revolute("ceiling", model.ground.at(0, 0, 0), rod7.at(length / 2, 0, 0), axis="z")
    hinge2 = fm.Revolute("hinge2", rod7.base, rod1.base, axis="z", q0=-pi / 2)
    hinge6 = fm.Revolute("hinge6", rod7.tip, rod5.base, axis="z", q0=-pi / 2)
    hinge4 = fm.Revolute("hinge4", rod5.tip, rod3.base, axis="z")
    model.add(rod1, rod3, rod5, rod7, ceiling, hinge2, hinge6, hinge4)
    model.experiment(stop=5.0, interval=0.01)
    return model


if __name__ == "__main__":
    fm.simulate(build(), stop=5.0).plot("ceiling.q")
    fm.export_fmu(build(), "fmus/branch_pendulum.fmu")
