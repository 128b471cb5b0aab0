"""A truck and its trailer, forwards and backwards, against the tractrix.

Axles roll and do not slip sideways: each is a knife edge, `fm.Skate`. The truck drives straight ahead or backs up at a
constant speed; the trailer starts at an angle, and is on a hitch over the truck's rear axle. Wanted is how fast it
straightens, when it jackknifes, and the force across the hitch.

The angle between both follows (Huygens' tractrix) tan(angle / 2) = tan(start / 2) exp(-v t / L): behind a truck that
drives, the trailer comes into line over a few of its lengths L; pushed, it leaves the line as fast. Without slip this
holds at any mass: only the forces depend on it. SI units.
"""

import matplotlib.pyplot as plt
import numpy as np

import fmumbs as fm

LENGTH, SPEED = 7.5, 2.0  # from the hitch to the trailer's axle [m], [m/s]
MASS, TRAILER = 9e3, 16e3  # [kg]


def build(speed: float, angle: float) -> fm.Model:
    """speed: of the truck along x [m/s], below 0 backwards; angle: of the trailer to the truck at the start [rad]."""
    model = fm.Model("truck_trailer", description="A truck that pulls or pushes a trailer.")
    truck = fm.Body.box("truck", size=(6.5, 2.5, 1.2), mass=MASS)
    trailer = fm.Body.box("trailer", size=(9.0, 2.5, 2.6), mass=TRAILER)
    drive = fm.Slide("x", role="excited", path=fm.Path.polynomial(0.0, speed))
    place = (-LENGTH * np.cos(angle), -LENGTH * np.sin(angle), angle)  # of the trailer's axle; the hitch is at 0
    model.add(truck, trailer)
    model.add(fm.Skate("axle", model.ground.at(), trailer.at(9.0 - LENGTH, 0, 0), q0=place))
    model.add(fm.Joint("road", model.ground.at(), truck.at(1.0, 0, 0), modes=[drive]))
    model.add(fm.Revolute("hitch", truck.at(1.0, 0, 0), trailer.at(9.0, 0, 0), axis="z", q0=angle))
    return model


def tractrix(t: np.ndarray, speed: float, angle: float) -> np.ndarray:
    """The angle at the hitch [rad]."""
    return 2 * np.arctan(np.tan(angle / 2) * np.exp(-speed * t / LENGTH))


if __name__ == "__main__":
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
    for speed, angle in ((SPEED, 1.0), (-SPEED, 0.05), (-SPEED, 0.1)):
        name = f"{'pulled' if speed > 0 else 'pushed'} from {np.degrees(angle):.0f} deg"
        result = fm.simulate(build(speed, angle), stop=12.0, interval=0.02, tolerance=1e-9)
        exact = tractrix(result.time, speed, angle)
        error = np.abs(result["hitch.q"] - exact).max()
        print(f"{name}: {np.degrees(result['hitch.q'][-1]):.2f} deg after 12 s, off the tractrix by {error:.0e} rad")
        assert error < 1e-7
        left.plot(result.time, np.degrees(result["hitch.q"]), label=name)
        left.plot(result.time[::30], np.degrees(exact[::30]), "k.", markersize=3)
        right.plot(result.time, result["hitch.reaction.f[2]"] / 1e3, label=name)
    left.axhline(90, linestyle=":", color="grey")
    left.set(xlabel="time [s]", ylabel="angle at the hitch [deg]")
    right.set(xlabel="time [s]", ylabel="force across at the hitch [kN]")
    left.legend()
    figure.savefig("truck_trailer.png", dpi=100)
