"""Trough: a ball between two troughs that are not perpendicular, one free, one driven. SI units, angles in rad.

The example of Schwertassek and Senger, Representation of Joints in Multibody Systems (1988), section 5: a massless
slider slides freely in a trough and carries a second trough, inclined by `angle` to the normal of the first, in which a
ball is driven back and forth. A spring pulls the ball to the body of the first trough.
"""

import numpy as np

import fmumbs as fm


def build(mass=1.0, angle=0.5, stroke=0.2, period=2.0, height=0.1, stiffness=40.0, free_length=0.3) -> fm.Model:
    """Mass [kg]; angle [rad]; stroke [m] and period [s] of the drive; height of the ball [m]; spring [N/m], [m]."""
    model = fm.Model("trough", gravity=(0, 0, -9.81), description="Ball in a free and a driven skew trough")
    ball = fm.Body.sphere("ball", mass=mass, radius=0.05)
    there_and_back = fm.Path(
        (0.0, period / 2),
        (forth(0.0, stroke, period / 2), forth(stroke, 0.0, period / 2)),
        period=period,
    )
    skew = (np.sin(angle), np.cos(angle), 0)
    J = fm.Joint(
        "J",
        model.ground.at(),
        ball.at(),
        modes=[
            fm.Slide("x"),
            fm.Slide(skew, role="excited", path=there_and_back),
            fm.Slide("z", role="locked", value=height),
        ],
        q0=[0.1],
    )
    S = fm.Spring("S", model.ground.at(0, -0.3, height), ball.at(), stiffness=stiffness, free_length=free_length)
    model.add(ball, J, S)
    model.experiment(stop=10.0, interval=0.01)
    return model


def forth(begin, end, time) -> tuple[float, ...]:
    """From rest to rest in this time, by a polynomial of the fifth degree."""
    d = end - begin
    return (begin, 0.0, 0.0, 10 * d / time**3, -15 * d / time**4, 6 * d / time**5)


if __name__ == "__main__":
    fm.simulate(build(), stop=10.0).plot("J.drive")
    fm.export_fmu(build(), "fmus/trough.fmu")
