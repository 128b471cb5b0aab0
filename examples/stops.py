"""Buffer stops: how hard a wagon hits, and what the damper of a buffer does.

A wagon of 40 t rolls against the buffer at the end of a siding at 1.5 m/s. `fm.Stop` is the buffer: a spring and damper
that push back beyond the end of the range and never pull; the damper acts during compression only. The integrator stops
where the wagon touches and leaves the buffer and goes on from there, so no step straddles the kink. The wagon also has
rolling resistance: `fm.Law.brake`, dry friction, which in the end holds it at rest.

Without a damper the energy says what the force is: v sqrt(k m), and the wagon leaves as fast as it came. With one, the
wagon compresses the buffer as an oscillator with the damping ratio D does, and the spring alone throws it back. Those
are the figures in brackets. SI units.
"""

import matplotlib.pyplot as plt
import numpy as np

import fmumbs as fm

MASS, SPEED, GAP, STIFFNESS = 40e3, 1.5, 3.0, 2.5e6  # [kg, m/s, m, N/m]
RESISTANCE = 0.002 * MASS * 9.81  # [N]
W = np.sqrt(STIFFNESS / MASS)


def build(ratio: float, resistance: float) -> fm.Model:
    """The wagon; ratio: of the buffer's damping to the critical one."""
    model = fm.Model("wagon")
    wagon = fm.Body.box("wagon", size=(12, 2.8, 3), mass=MASS)
    rail = fm.Prismatic("rail", model.ground.at(), wagon.tip, axis="x", q0=0.0, u0=SPEED)
    buffer = fm.Stop("buffer", rail, upper=GAP, stiffness=STIFFNESS, damping=2 * ratio * np.sqrt(STIFFNESS * MASS))
    model.add(wagon, rail, buffer, fm.Law.brake("rolling", rail, resistance))
    return model


figure, (position, force) = plt.subplots(2, 1, figsize=(7, 6), layout="constrained")
for ratio in (0.0, 0.2, 0.5):
    result = fm.simulate(build(ratio, 0.0), stop=3.0, interval=5e-4, tolerance=1e-9)
    damped = np.sqrt(1 - ratio**2)
    deepest = SPEED / W * np.exp(-ratio / damped * np.arctan2(damped, ratio))
    found, away, largest = result["rail.q"].max() - GAP, -result["rail.qd"][-1], -result["buffer.force"].min()
    print(f"D = {ratio}: {largest / 1e3:.0f} kN, compressed by {1e3 * found:.2f} mm ({1e3 * deepest:.2f}),", end=" ")
    print(f"leaves at {away:.4f} m/s ({W * deepest:.4f})")
    assert abs(found - deepest) < 1e-5
    assert abs(away - W * deepest) < 1e-5
    force.plot(1e3 * (result["rail.q"] - GAP), -result["buffer.force"] / 1e3, label=f"D = {ratio}")
    rolling = fm.simulate(build(ratio, RESISTANCE), stop=90.0, interval=0.05)
    position.plot(rolling.time, rolling["rail.q"], label=f"D = {ratio}")
    assert rolling["rail.qd"][-1] == 0.0  # the brake holds it
position.set(ylabel="wagon [m]", xlabel="time [s]")
position.legend()
force.set(ylabel="buffer [kN]", xlabel="compression [mm]", xlim=(-10, 210))
figure.savefig("stops.png", dpi=100)
