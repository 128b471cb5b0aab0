"""RPSUP mechanism whose coupler follows a rectangle (copcod, section 3.2). SI units, angles in rad.

A crank (R) carries a slide (P) with a ball (S), on which the coupler turns; its other end is on a universal joint (U)
of a slider (P). The loop is cut at the coupler's pin, the second axis of the universal joint. The tool E is on the
coupler, the rectangle in the y z plane of a frame that is turned by 45 degrees about z, at the place that the paper
gives. With everything rigid the mobility is two, and two coordinates are programmed; with a flexible coupler or support
all three are. Dimensions, masses and stiffnesses are not printed: these are plausible ones, with the rectangle within
reach.
"""

import numpy as np

import fmumbs as fm

ORIGIN, ANGLE = (0.0384, 0.2335, 0.0), np.pi / 4  # of the frame {P} [m], [rad]
CORNER, FIRST, SECOND = (0.0, -0.03, 0.1), (0.0, 0.06, 0.0), (0.0, 0.0, 0.03)  # A; A to B; B to C, in {P} [m]
SLIDER = (-0.16, 0.035)  # x, y of the slider [m]
START = (0.02, -0.03, 0.0)  # of the ball S from where it would be with E at A [m]
EDGE = 1.0  # [s]
PIN = 0.02  # radius of the crank's pin and end face [m]


def build(support="rigid", link="rigid", friction=False, own=True, elements=4, transition=EDGE) -> fm.Model:
    """support, link: "rigid" or "flexible". friction: LuGre friction at the crank and the slides.

    own: it is loaded by the joints' own forces (Eqs 21), otherwise by a constant preload. elements: of the flexible
    coupler. transition: time in which the start off the path is faded out [s].
    """
    model = fm.Model("rpsup", gravity=(0, -9.81, 0), description="RPSUP mechanism whose coupler follows a rectangle.")
    turned = fm.Rotation.about("z", ANGLE)
    E = np.array(ORIGIN) + turned.matrix @ CORNER  # in the middle of the coupler, between the ball S and the slider U
    U = np.array([*SLIDER, 2 * E[2]])
    length = float(np.linalg.norm(2 * (E - U)))
    S = 2 * E - U + START
    U[2] = np.sqrt(length**2 - np.sum((S - U)[:2] ** 2))
    reach, crank_angle = float(np.hypot(*S[:2])), float(np.arctan2(S[1], S[0]))
    base = fm.Body.box("base", size=(0.5, 0.5, 0.1), mass=40.0, along="z")
    feet = [(x, y, 0.0) for x in (-0.25, 0.25) for y in (-0.25, 0.25)]
    layer = fm.Layer(feet, stiffness=1e5, damping=800.0)
    frame = model.ground.at(0, 0, -0.1)
    stand = fm.FlexibleSupport("stand", frame, base.base, layers=[layer], rigid=support == "rigid")
    crank = fm.Body.rod("crank", length=0.3, mass=1.5, radius=0.015)
    sledge = fm.Body("sledge", mass=0.5, inertia=(5e-4, 5e-4, 5e-4))
    slider = fm.Body("slider", mass=0.8, inertia=(8e-4, 8e-4, 8e-4))
    cross = fm.Body("cross", mass=0.2, inertia=(1e-4, 1e-4, 1e-4))
    # the coupler's x points from S to U; at the start its other axes follow from the pins of the universal joint
    x = (U - S) / length
    pin = np.cross((0.0, 0.0, 1.0), x)
    pin /= np.linalg.norm(pin)
    axes = fm.Rotation(np.column_stack([x, pin, np.cross(x, pin)]))
    coupler: fm.Body | fm.FlexibleLink = fm.Body.rod("coupler", length=length, mass=0.6, radius=0.01)
    if link == "flexible":
        coupler = fm.FlexibleLink("coupler", length=length, mass=0.6, section=fm.Section.circle(0.006),
                                  material=fm.Material.steel(damping=2e-3), elements=elements)  # fmt: skip
    rub = {"static": 0.2, "kinetic": 0.15, "stribeck": 0.05, "stiffness": 1e3, "damping": 1.0}
    turning = fm.LuGre(**rub, **({"own": True, "radius": PIN, "collar": PIN} if own else {"preload": 1.0}))
    sliding = fm.LuGre(**rub, **({"own": True} if own else {"preload": 1.0}))
    heading = fm.Rotation.about("z", float(np.arctan2(x[1], x[0])))
    tilt = float(np.arcsin(-x[2]))
    model.add(base, stand, crank, sledge, slider, cross, coupler)
    model.add(
        fm.Revolute("R", base.tip, crank.base, axis="z", q0=crank_angle, friction=turning if friction else None),
        fm.Prismatic("P1", crank.base, sledge.at(), axis="x", q0=reach, friction=sliding if friction else None),
        fm.Spherical("S", sledge.at(), coupler.base,
                     q0=(fm.Rotation.about("z", -crank_angle) @ axes).as_quaternion()),
        fm.Prismatic("P2", base.at(*SLIDER, 0.1), slider.at(), axis="z", q0=float(U[2]),
                     friction=sliding if friction else None),
        fm.Revolute("U", slider.at(rotation=heading), cross.at(), axis="z"),
        fm.Revolute("C", cross.at(), coupler.tip, axis="y", q0=tilt, cut=True),
    )  # fmt: skip
    soft = "flexible" in (support, link)
    directions = "xyz" if soft else "yz"
    path = fm.Path.rectangle(CORNER, FIRST, SECOND, EDGE)
    place = model.ground.at(*ORIGIN, rotation=turned)
    at = coupler.at(length / 2)
    paths = path.paths[3 - len(directions) :]
    model.add(fm.ProgrammedPoint("E", at, frame=place, directions=directions, path=paths, transition=transition))
    model.experiment(stop=4 * EDGE, interval=0.01)
    return model


if __name__ == "__main__":
    fm.simulate(build(), stop=4.0).plot("E.violation")
    fm.export_fmu(build(), "fmus/rpsup.fmu")
