"""A platform on parallel rods, and a triple pendulum under it: one reaction too many. SI units, angles in rad.

The example of "A divide-and-conquer method for the reaction-uniqueness analysis": 10 bodies, 15 ball joints A to R and
one empty handle S. The lower rods are at the corners of the platform; the upper ones connect the ceiling with the
mid-points of two opposite sides. With four lower rods the distribution of their load is not unique.
"""

import numpy as np

import fmumbs as fm

SIDE, REACH = 2.0, 2 * np.sqrt(2)  # of the platform, of a rod [m]
CORNERS = {"A": (-1, -1), "C": (1, -1), "E": (-1, 1), "G": (1, 1)}
MIDDLES = {"K": (0, -1), "M": (0, 1)}
UPPER_ENDS = dict(zip("ACEGKM", "BDFHLN", strict=True))


def build(lower_rods: int = 4, theta: float = np.pi / 12, EA: float = 0.0) -> fm.Model:
    """Number of lower rods, up to 4; angle of the parallelogram from the plane y-z [rad]; EA of these rods [N].

    EA is 0 for rigid rods. Rods that stretch share their load in one way only.
    """
    model = fm.Model("parallelogram_pendulum", description="A platform on parallel rods with a triple pendulum.")
    ground = model.ground
    platform = fm.Body("body7", mass=10.0, inertia=(3.0, 3.0, 6.0))
    lower, upper = euler(np.pi / 2 + theta, np.pi / 2, np.pi / 4), euler(np.pi / 2 + theta, np.pi / 2, -np.pi / 4)
    feet = list(CORNERS.items())[:lower_rods]
    below = (lambda name: stretching(name, EA)) if EA else rod
    rods = [(letter, place, below(f"body{i}"), lower) for i, (letter, place) in enumerate(feet, 1)]
    rods += [(letter, place, rod(f"body{i}"), upper) for i, (letter, place) in enumerate(MIDDLES.items(), 5)]
    centre = lower @ (REACH, 0, 0)
    for letter, place, body, turned in rods:
        corner = np.array((*place, 0.0)) * SIDE / 2
        foot = ground.at(*(centre + corner - turned @ (REACH, 0, 0)))
        model.add(body, fm.Spherical(letter, foot, body.at(), q0=turned.as_quaternion()))
    model.add(platform)
    for letter, place, body, turned in rods:
        corner = np.array((*place, 0.0)) * SIDE / 2
        q0 = turned.inverse().as_quaternion()
        model.add(fm.Spherical(UPPER_ENDS[letter], body.at(REACH, 0, 0), platform.at(*corner), q0=q0))
    end = platform.at()
    pendulum = {"P": (1 / 4, 1 / 4, 1 / 2), "Q": (1 / 6, 1 / 3, 1 / 6), "R": (1 / 3, 1 / 3, 1 / 4)}
    for number, (letter, turns) in enumerate(pendulum.items(), 8):
        body = rod(f"body{number}", empty={"S": (REACH, 0, 0)} if letter == "R" else None)
        model.add(body, fm.Spherical(letter, end, body.at(), q0=euler(*np.pi * np.array(turns)).as_quaternion()))
        end = body.at(REACH, 0, 0)
    model.experiment(stop=2.0, interval=0.01)
    return model


def rod(name: str, empty: dict[str, tuple[float, float, float]] | None = None) -> fm.Body:
    return fm.Body(name, mass=5.0, com=(REACH / 2, 0, 0), inertia=(0.04, 4.0, 4.0), points=empty or {})


def stretching(name: str, EA: float) -> fm.ModalBody:
    """A rod that also bends in both planes."""
    return fm.ModalBody.beam(
        name, length=REACH, mass=5.0, EI=1e-4 * EA, plane=None, modes=1, boundary="pinned-pinned", stretch=2, EA=EA,
        axial_inertia=0.04, damping_ratio=0.02,
    )  # fmt: skip


def euler(first: float, second: float, third: float) -> fm.Rotation:
    """About z, x, z in turn."""
    about = fm.Rotation.about
    return about("z", first) @ about("x", second) @ about("z", third)


if __name__ == "__main__":
    print(fm.uniqueness(build()).set_of("ACEG"))
    fm.simulate(build()).plot("body7.r[1]", "body7.r[3]")
    fm.export_fmu(build(), "fmus/parallelogram_pendulum.fmu")
