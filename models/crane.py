"""Crane: a flexible boom on a turntable that stands on soft ground, with a load on a hoist. SI units, angles in rad.

The turntable turns and the rope shortens as prescribed, from rest to rest. The frame stands on four feet, each a layer
of spring-damper elements; the boom is a steel tube of rigid finite elements, of which eight give the height of the load
at rest within a millimetre; the load swings. It starts undeformed:
`fm.equilibrium(build())` gives the deflection to start with.
"""

import fmumbs as fm

HEIGHT, SPREAD = 1.5, 2.0  # of the turntable over the feet, of the feet [m]


def build(
    boom=12.0, load=1000.0, rope=6.0, luff=0.7, slew=0.6, time=2.5, elements=8, soft=True, stiffer=1.0
) -> fm.Model:
    """Lengths [m], load [kg], luffing and slewing angle [rad], time of the move [s].

    soft: whether the ground gives way; stiffer: how many times stiffer than steel the boom is.
    """
    model = fm.Model("crane", description="A flexible boom on a flexible support, with a hoist")
    frame = fm.Body("frame", mass=8000.0, com=(0, 0, 0.6), inertia=(8e3, 8e3, 14e3))
    table = fm.Body("table", mass=3000.0, com=(-0.8, 0, 0.4), inertia=(2e3, 4e3, 4e3))
    feet = [(x, y, 0.0) for x in (-SPREAD, SPREAD) for y in (-SPREAD, SPREAD)]
    ground = fm.Layer(feet, stiffness=(2e6, 2e6, 5e6), damping=(2e4, 2e4, 5e4))
    steel = fm.Material(210e9 * stiffer, 7850.0, damping=2e-4 / stiffer**0.5)
    tube = fm.FlexibleLink(
        "boom",
        length=boom,
        section=fm.Section.tube(0.2, 0.006),
        material=steel,
        elements=elements,
    )
    hook = fm.Body("load", mass=load, com=(0, 0, -1.0), inertia=[load * 0.8**2 / 6] * 3)
    turn = fm.Turn("z", role="excited", path=fm.Path.quintic([0, time], [0, slew]))
    lift = fm.Slide("z", role="excited", path=fm.Path.quintic([0, time], [-rope, -0.75 * rope]))
    upwards = fm.Rotation.about("y", -luff)
    model.add(frame, fm.FlexibleSupport("feet", model.ground.at(), frame.at(), layers=[ground], rigid=not soft))
    model.add(table, fm.Joint("slew", frame.at(0, 0, HEIGHT), table.at(), modes=(turn,)))
    model.add(tube, fm.Weld("pivot", table.at(0.5, 0, 0.5, rotation=upwards), tube.base))
    level = fm.Rotation.about("y", luff)
    model.add(hook, fm.Joint("hoist", tube.tip.body.at(*tube.tip.X_BP.offset, rotation=level), hook.at(),
                             modes=(fm.Turn("x"), fm.Turn("y"), lift), damping=(50.0, 50.0)))  # fmt: skip
    model.experiment(stop=2 * time, interval=0.02)
    return model


if __name__ == "__main__":
    print(fm.equilibrium(build()))
    fm.simulate(build()).plot("boom_tip.q[3]", "load.r[2]", "feet_base.q[3]")
    fm.export_fmu(build(), "fmus/crane.fmu")
