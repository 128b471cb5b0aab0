"""Manipulator of five freedoms whose tool follows a rectangle (copcod, section 3.1). SI units, angles in rad.

On a base: a rotation about the vertical, two hinges and two slides; the link (1,2) between the hinges may bend, and the
base may stand on springs. Three coordinates of the tool E are programmed; springs and dampers at the slides hold the
two freedoms that are left. The tool starts off the path, which is faded out within the first second, the edge AB.
Gravity acts along -y. The paper prints no dimensions, masses or stiffnesses: these are plausible ones.
"""

import fmumbs as fm

CORNER, FIRST, SECOND = (1.15, 0.45, -0.15), (0.0, 0.25, 0.0), (0.0, 0.0, 0.3)  # A; from A to B, from B to C [m]
EDGE = 1.0  # [s]
PIN = 0.03  # radius of the hinges' pins and end faces [m]


def build(support="rigid", link="rigid", friction=False, own=True, elements=4, transition=EDGE) -> fm.Model:
    """support, link: "rigid" or "flexible". friction: LuGre friction at the hinges.

    own: it is loaded by the joints' own forces (Eqs 21), otherwise by a constant preload. elements: of the flexible
    link. transition: time in which the start off the path is faded out [s].
    """
    model = fm.Model("manipulator5", gravity=(0, -9.81, 0), description="Manipulator whose tool follows a rectangle.")
    base = fm.Body.box("base", size=(0.6, 0.1, 0.6), mass=60.0, along="y")
    feet = [(x, 0.0, z) for x in (-0.3, 0.3) for z in (-0.3, 0.3)]
    layer = fm.Layer(feet, stiffness=(2e5, 1e5, 2e5), damping=(2e3, 1e3, 2e3))
    stand = fm.FlexibleSupport("stand", model.ground.at(), base.base, layers=[layer], rigid=support == "rigid")
    column = fm.Body.cylinder("column", length=0.4, radius=0.08, mass=12.0, along="y")
    upper: fm.Body | fm.FlexibleLink = fm.Body.rod("upper", length=0.7, mass=4.0, radius=0.02)
    if link == "flexible":
        section, material = fm.Section.tube(0.02, 0.003), fm.Material.aluminium(damping=1e-3)
        upper = fm.FlexibleLink("upper", length=0.7, section=section, material=material, elements=elements, mass=4.0)
    fore = fm.Body.rod("fore", length=0.5, mass=2.5, radius=0.02)
    sledge = fm.Body.box("sledge", size=(0.1, 0.08, 0.08), mass=1.0)
    tool = fm.Body.rod("tool", length=0.15, mass=0.5, radius=0.01, along="-y")
    loaded = {"own": True, "radius": PIN, "collar": PIN} if own else {"preload": 2.0}
    bristles = fm.LuGre(0.2, 0.15, stribeck=0.1, stiffness=1e3, damping=1.0, **loaded)
    rubbing = {"friction": bristles} if friction else {}
    held = {"stiffness": 2000.0, "damping": 80.0}
    model.add(base, stand, column, upper, fore, sledge, tool)
    model.add(
        fm.Revolute("turret", base.tip, column.base, axis="y", q0=0.1, **rubbing),
        fm.Revolute("shoulder", column.tip, upper.base, axis="z", q0=0.6, **rubbing),
        fm.Revolute("elbow", upper.tip, fore.base, axis="z", q0=-0.7, **rubbing),
        fm.Prismatic("reach", fore.tip, sledge.base, axis="x", **held),
        fm.Prismatic("lift", sledge.tip, tool.base, axis="y", **held),
        fm.ProgrammedPoint(
            "E", tool.tip, path=fm.Path.rectangle(CORNER, FIRST, SECOND, EDGE), transition=transition
        ),
    )
    model.experiment(stop=4 * EDGE, interval=0.01)
    return model


if __name__ == "__main__":
    fm.simulate(build(), stop=4.0).plot("E.violation")
    fm.export_fmu(build(), "fmus/manipulator5.fmu")
