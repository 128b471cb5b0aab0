"""The stiction of a telescopic fork: how far its bushings spoil the spring, against the statics of a lever.

A motorcycle's fork is inclined; the wheel's load is not. The part across the fork presses the leg into two bushings,
with the lever of the length that stands out below them. Dry friction there opens a loop between load and travel.

With the axle c below the lower bushing and b between them, a force F across takes F (1 + c/b) and F c/b, so friction is
R = mu F (1 + 2 c/b). Slowly loaded W cos(rake) = k s + d s' + R, unloaded with -R. `fm.LuGre` with own=True counts
|f| + |t| / guide of the joint's reaction at the lower bushing: with guide = b/2 that is the same sum. SI units.
"""

import matplotlib.pyplot as plt
import numpy as np

import fmumbs as fm

RAKE, OUT, BETWEEN = np.radians(26), 0.32, 0.2  # [rad], [m], [m]
STIFFNESS, DAMPING, LOAD, CYCLE = 16e3, 100.0, 2000.0, 40.0  # [N/m], [N.s/m], [N], [s]


def build(mu: float) -> fm.Model:
    """The leg slides in bushings that are fixed; the road pushes its axle upwards by the input road.force."""
    model = fm.Model("telescope_fork", gravity=(0, 0, 0), description="A telescopic fork with dry friction.")
    leg = fm.Body.rod("leg", length=0.6, mass=8.0, radius=0.03, along="z")  # its base is the axle
    tilted = fm.Rotation.about("y", -RAKE)  # z along the fork, backwards and up
    rub = fm.LuGre(mu, mu, stribeck=1e-3, stiffness=2e5, damping=200.0, own=True, guide=BETWEEN / 2)
    bushing = model.ground.at(rotation=tilted)
    spring = {"stiffness": STIFFNESS, "damping": DAMPING, "friction": rub}
    fork = fm.Prismatic("fork", leg.at(0, 0, OUT), bushing, axis="z", **spring)
    model.add(leg, fork, fm.Load("road", leg.at()))
    return model


def exact(travel: np.ndarray, rate: np.ndarray, mu: float) -> np.ndarray:
    """The load at a travel [m] and its rate [m/s] while it slides [N]; mu: below 0 while the fork extends."""
    lever = 1 + 2 * (OUT - travel) / BETWEEN
    return (STIFFNESS * travel + DAMPING * rate) / (np.cos(RAKE) - mu * np.sin(RAKE) * lever)


if __name__ == "__main__":
    figure, axis = plt.subplots(figsize=(6, 4), layout="constrained")
    ramp = (np.array([0.0, CYCLE / 2, CYCLE]), np.outer([0.0, LOAD, 0.0], (0, 0, 1)))
    for mu in (0.02, 0.05, 0.1):
        result = build(mu).simulate(stop=CYCLE, interval=0.05, scheme="radau", inputs={"road.force": ramp})
        travel, rate, load = -result["fork.q"], -result["fork.qd"], np.interp(result.time, ramp[0], ramp[1][:, 2])
        in_ = (result.time > 0.1 * CYCLE) & (result.time < 0.5 * CYCLE)
        out = (result.time > 0.75 * CYCLE) & (load > 200.0)
        off = [np.abs(load - exact(travel, rate, sign * mu))[part].max() for part, sign in ((in_, 1), (out, -1))]
        widest = np.interp(0.05, travel[in_], load[in_]) - np.interp(0.05, travel[out][::-1], load[out][::-1])
        print(f"mu {mu:.2f}: loop of {widest:.0f} N at 50 mm, off the statics by {max(off):.0e} N", end="; ")
        jam = (1 / np.tan(RAKE) / mu - 1) * BETWEEN / 2
        print(f"jams if the axle is {jam:.2f} m below the bushing")
        assert max(off) < 5e-4  # of 2000: inertia
        axis.plot(1e3 * travel, load, label=f"coefficient {mu:.2f}")
        axis.plot(1e3 * travel[in_][::40], exact(travel[in_][::40], rate[in_][::40], mu), "k.", markersize=4)
    axis.set(xlabel="travel [mm]", ylabel="load of the wheel [N]")
    axis.legend()
    figure.savefig("telescope_fork.png", dpi=100)
