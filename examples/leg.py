"""A leg that jumps: torques of hip and knee, the force on the ground, and the height of the flight.

The knee bends twice as far as the hip, by a belt, so that the foot stays below the hip. A torque extends the leg; the
ground only pushes: it is an `fm.Stop` on the height of the foot. Rubber ends the extension.

Closed forms: at rest virtual work gives the torque, g a sin(angle) (2 body + 3/2 thigh + 1/2 shank), and the ground
carries the weight. In flight the centre of mass is on a parabola, and rises by v^2 / 2 g. SI units.
"""

import matplotlib.pyplot as plt
import numpy as np

import fmumbs as fm

BODY, THIGH, SHANK, A, G = 4.0, 0.6, 0.4, 0.2, 9.81  # [kg], links of length A [m]
CROUCH, EXTENDED = 1.1, 0.2  # angle of the thigh to the vertical [rad]
HOLD = G * A * np.sin(CROUCH) * (2 * BODY + 1.5 * THIGH + 0.5 * SHANK)  # [N.m]
MASS = BODY + THIGH + SHANK


def build() -> fm.Model:
    """In the crouch, the foot on the ground; the input hip.tau extends the leg."""
    model = fm.Model("leg", description="A leg that jumps.")
    body = fm.Body.box("body", size=(0.15, 0.15, 0.15), mass=BODY)
    thigh, shank = (fm.Body.rod(n, length=A, mass=m, radius=0.012) for n, m in (("thigh", THIGH), ("shank", SHANK)))
    rail = fm.Prismatic("rail", model.ground.at(), body.base, axis="z", cut=True)
    down = fm.Rotation.about("y", np.pi / 2)
    hip = fm.Revolute("hip", body.at(rotation=down), thigh.base, axis="y", q0=-CROUCH, held=True)
    knee = fm.Revolute("knee", thigh.tip, shank.base, axis="y", q0=2 * CROUCH)
    foot = fm.Planar("foot", model.ground.at(), shank.tip, normal="y", q0=(0, 0, np.pi / 2 + CROUCH))  # z, x, angle
    model.add(body, thigh, shank, rail, hip, knee, foot, fm.Coupling("belt", [(knee, 1.0), (hip, 2.0)]))
    model.add(fm.Stop("floor", foot, lower=0.0, stiffness=2e5, damping=200.0))
    model.add(fm.Stop("rubber", hip, upper=-EXTENDED, stiffness=300.0, damping=8.0))
    return model


if __name__ == "__main__":
    held = fm.Solver(build(), equilibrium=True, locked=["hip"])
    held.assemble()
    print(f"in the crouch: {held.locks['hip.q']:.4f} N.m, by virtual work {HOLD:.4f} N.m,", end=" ")
    print(f"{held.get('floor.force'):.4f} N on the ground, weight {MASS * G:.4f} N")
    push = ([0.0, 0.11, 0.11, 1.0], [2.5 * HOLD, 2.5 * HOLD, 0.0, 0.0])
    held_first = {"equilibrium": True, "locked": ["hip"]}
    result = build().simulate(stop=0.39, interval=2e-4, tolerance=1e-9, inputs={"hip.tau": push}, **held_first)
    t, force = result.time, result["floor.force"]
    height = result["rail.q"] - (0.5 * THIGH + 1.5 * SHANK) / MASS * A * np.cos(result["hip.q"])  # but for a constant
    flying = t > t[force > 0.0][-1]
    flight, rise = t[flying] - t[flying][0], height[flying] - height[flying][0]
    speed = rise[-1] / flight[-1] + G * flight[-1] / 2
    print(f"leaves the ground after {t[flying][0]:.4f} s at {speed:.4f} m/s, pushed by {force.max():.0f} N at most")
    print(f"the centre of mass rises by {rise.max():.5f} m, by the formula {speed**2 / 2 / G:.5f} m")
    assert abs(held.locks["hip.q"] - HOLD) < 1e-8 and abs(held.get("floor.force") - MASS * G) < 1e-8
    assert np.abs(rise - speed * flight + G * flight**2 / 2).max() < 1e-7
    figure, (above, below) = plt.subplots(2, 1, sharex=True, figsize=(7, 5), layout="constrained")
    above.plot(t, force)
    above.set(ylabel="ground [N]")
    below.plot(t, height)
    below.plot(t, result["foot.q[1]"])
    below.set(xlabel="time [s]", ylabel="centre of mass, foot [m]")
    figure.savefig("leg.png", dpi=100)
