"""How far a washing machine's tub shakes while it spins up, against the formula of a rotating unbalance.

The tub hangs on springs and dampers, the drum spins up to 1200 1/min with half a kilogram of wet laundry at its wall.
Wanted are the swing at the resonance, which the gap to the housing must leave, and the force on the floor afterwards.

At a constant speed W the swing of a mass M on a spring k and a damper c, with the unbalance m e, is
m e W^2 / |k - M W^2 + i c W|. While it spins up fast the swing stays below that at the resonance. SI units.
"""

import matplotlib.pyplot as plt
import numpy as np

import fmumbs as fm

TUB, DRUM, LAUNDRY, RADIUS = 45.0, 12.0, 0.5, 0.24  # [kg], [m]
STIFFNESS, DAMPING = 9e3, 250.0  # of the suspension, in both directions [N/m], [N.s/m]
FASTEST, RISE = 1200 * 2 * np.pi / 60, 5.0  # [rad/s], [s]


def build(angle: fm.Path, description: str = "Tub, drum and an unbalance.") -> fm.Model:
    """angle: of the drum over time."""
    model = fm.Model("washing_machine", gravity=(0, 0, 0), description=description)
    tub = fm.Body.cylinder("tub", length=0.35, radius=0.28, mass=TUB, along="y")
    drum = fm.Body.cylinder("drum", length=0.3, radius=0.25, mass=DRUM, along="y")
    laundry = fm.Body.box("laundry", size=(0.05, 0.2, 0.1), mass=LAUNDRY)
    across = [fm.Slide("x"), fm.Slide("z")]
    hung = {"stiffness": STIFFNESS, "damping": DAMPING}
    model.add(tub, drum, laundry, fm.Joint("suspension", model.ground.at(), tub.at(), modes=across, **hung))
    model.add(fm.Joint("motor", tub.at(), drum.at(), modes=[fm.Turn("y", role="excited", path=angle)]))
    model.add(fm.Weld("wall", drum.at(RADIUS, 0, 0), laundry.at(0.025, 0, 0)))
    return model


def swing(w: np.ndarray) -> np.ndarray:
    """The amplitude at constant speeds w [rad/s], by the formula [m]."""
    mass = TUB + DRUM + LAUNDRY
    return LAUNDRY * RADIUS * w**2 / abs(STIFFNESS - mass * w**2 + 1j * DAMPING * w)


if __name__ == "__main__":
    resonance = np.sqrt(STIFFNESS / (TUB + DRUM + LAUNDRY))
    for w in (0.5 * resonance, resonance, 3.0 * resonance):
        result = fm.simulate(build(fm.Path.polynomial(0.0, w)), stop=12.0, interval=2e-3, tolerance=1e-11)
        found = np.hypot(result["suspension.q[1]"], result["suspension.q[2]"])[-500:]
        print(f"{w * 60 / 2 / np.pi:5.0f} 1/min: {1e3 * found[-1]:6.3f} mm, formula {1e3 * swing(w):6.3f} mm")
        assert np.abs(found / swing(w) - 1).max() < 1e-9
    up = fm.Path([0.0, RISE], [(0, 0, FASTEST / RISE / 2), (FASTEST * RISE / 2, FASTEST)], continuity=1)
    result = fm.simulate(build(up), stop=RISE + 10.0, interval=2e-3, tolerance=1e-10)
    away = np.hypot(result["suspension.q[1]"], result["suspension.q[2]"])
    force = np.linalg.norm(STIFFNESS * result["suspension.q"] + DAMPING * result["suspension.qd"], axis=1)
    print(f"spin-up: up to {1e3 * away.max():.1f} mm, then {1e3 * away[-1]:.2f} mm and {force[-1]:.0f} N on the floor")
    assert away.max() < swing(np.linspace(0, 2, 500) * resonance).max() and abs(away[-1] / swing(FASTEST) - 1) < 1e-9
    figure, axis = plt.subplots(figsize=(7, 4), layout="constrained")
    speed = np.minimum(result.time / RISE, 1.0) * FASTEST
    axis.plot(speed[result.time < RISE] * 30 / np.pi, 1e3 * away[result.time < RISE], label="spin-up in 5 s")
    axis.plot(speed[1:] * 30 / np.pi, 1e3 * swing(speed[1:]), "k--", label="formula at constant speed")
    axis.set(xlabel="speed [1/min]", ylabel="swing of the tub [mm]")
    axis.legend()
    figure.savefig("washing_machine.png", dpi=100)
