"""A drive with play: a motor moves a load through a gear whose teeth have a gap, forth and back.

`fm.Motor` is a direct-current motor whose voltage is an input, and `fm.Gear` a pair of gears whose teeth are a spring
with play. At the end of each run the motor's torque is constant, K i = T/n with the load's torque T and the ratio n,
and its speed w = (U - R i)/K. Where the voltage changes its sign the teeth cross their play: the load waits until the
motor has gone through it, and the integrator stops where they part and meet. Then they are pressed on their other
sides, so that the motor has turned by the play, and by what the teeth give, more than n times the load.

Figures in brackets are expected. SI units.
"""

import matplotlib.pyplot as plt
import numpy as np

import fmumbs as fm

R, L, K, VOLTS = 0.6, 1e-3, 0.08, 24.0  # motor [Ohm, H, N.m/A, V]
N, PLAY, TEETH = 5.0, 0.02, 2e3  # gear: ratio, whole play at the motor [rad], stiffness [N.m/rad]
FRICTION = 2.0  # of the load [N.m]


def build() -> fm.Model:
    model = fm.Model("backlash_drive", gravity=(0, 0, 0))
    rotor = fm.Body.cylinder("rotor", length=0.1, radius=0.03, mass=0.6, along="y")
    table = fm.Body.cylinder("table", length=0.05, radius=0.15, mass=4.0, along="y")
    A = fm.Revolute("A", model.ground.at(-0.18, 0, 0), rotor.at(), axis="y")
    B = fm.Revolute("B", model.ground.at(), table.at(), axis="y")
    model.add(rotor, table, A, B, fm.Motor("motor", A, resistance=R, inductance=L, constant=K))
    model.add(fm.Gear("gear", A, B, ratio=N, backlash=PLAY, stiffness=TEETH, damping=0.5))
    model.add(fm.Law.brake("friction", B, FRICTION))
    return model


def square(t: float) -> float:
    return VOLTS if t < 2.0 else -VOLTS


result = fm.simulate(build(), stop=4.0, interval=2e-4, inputs={"motor.voltage": square})
current = FRICTION / N / K
speed = (VOLTS - R * current) / K
for at, sign in ((1.999, 1), (4.0, -1)):
    i = round(at / 2e-4)
    there = result["motor.current"][i], result["A.qd"][i], result["gear.position"][i]
    expected = sign * current, sign * speed, sign * (PLAY / 2 + FRICTION / N / TEETH)
    print(f"{at:.3f} s: {there[0]:+.4f} A ({expected[0]:+.4f}), {there[1]:+.3f} ({expected[1]:+.3f}) rad/s", end=", ")
    print(f"teeth at {there[2]:+.6f} rad ({expected[2]:+.6f})")
    assert np.allclose(there, expected, rtol=1e-3)
crossing = (result["gear.force"] == 0.0) & (result.time > 2.0)
print(f"free for {1e3 * crossing.sum() * 2e-4:.1f} ms after the voltage has changed its sign")
assert crossing.any()

figure, (one, other) = plt.subplots(2, 1, figsize=(7, 6), layout="constrained")
one.plot(result.time, result["A.qd"] / N, result.time, result["B.qd"], "--")
one.set(ylabel="motor / ratio, load (dashed) [rad/s]")
other.plot(result.time, result["gear.position"])
other.set(ylabel="teeth within their play [rad]", xlabel="time [s]")
figure.savefig("backlash_drive.png", dpi=100)
result.view().save("backlash_drive.html")
