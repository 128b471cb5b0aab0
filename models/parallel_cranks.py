"""A platform on parallel cranks, with hinges or balls at their ends. SI units, angles in rad.

Two cranks are in one plane; three and four are not. With more than two, the load distribution is not unique.
"""

import fmumbs as fm

FEET = {2: ((0, 0), (2, 0)), 3: ((0, 0), (2, 0), (1, 1)), 4: ((0, 0), (2, 0), (2, 1), (0, 1))}
HEIGHT = 1.0  # of a crank [m]


def build(cranks: str = "RR RR RR", lean: float = 0.3) -> fm.Model:
    """For each crank its joints below and above, R about y or a ball S; initial angle from the vertical [rad]."""
    model = fm.Model("parallel_cranks", description="A platform on parallel cranks.")
    kinds = cranks.split()
    platform = fm.Body.box("platform", size=(2.4, 1.4, 0.1), mass=4.0, along="z")
    for i, ((x, y), kind) in enumerate(zip(FEET[len(kinds)], kinds, strict=True), 1):
        body = fm.Body.rod(f"crank{i}", length=HEIGHT, mass=1.0, radius=0.02, along="z")
        model.add(body, joint(f"base{i}", kind[0], model.ground.at(x, y, 0), body.base, lean))
    model.add(platform)
    for i, ((x, y), kind) in enumerate(zip(FEET[len(kinds)], kinds, strict=True), 1):
        corner = platform.at(x - 1.0, y - 0.5, 0)
        model.add(joint(f"top{i}", kind[1], model[f"crank{i}"].tip, corner, -lean))
    model.experiment(stop=2.0, interval=0.01)
    return model


def joint(name: str, kind: str, F: fm.Point, M: fm.Point, angle: float) -> fm.Revolute | fm.Spherical:
    if kind == "R":
        return fm.Revolute(name, F, M, axis="y", q0=angle)
    return fm.Spherical(name, F, M, q0=fm.Rotation.about("y", angle).as_quaternion())


if __name__ == "__main__":
    fm.simulate(build()).plot("base1.q")
    fm.export_fmu(build(), "fmus/parallel_cranks.fmu")
