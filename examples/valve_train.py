"""A valve train: a cam turns a rocker, which opens a valve against its spring, until it turns too fast.

`fm.Cam` lets the rocker's angle follow the camshaft's: its profile is a `fm.Path.cam` with angles in place of times.
The rocker drives the valve as a pinion its rack. The contact is a constraint; its torque on the rocker is `cam.tau[1]`:

    tau = (J + m r^2) w^2 f'' + k r (r f + s)

with the profile f, the speed w of the camshaft, the inertia J and the arm r of the rocker, and the spring's preload s.
At the speed where it falls to zero the rocker leaves the cam. Figures in brackets are expected. SI units.
"""

import matplotlib.pyplot as plt
import numpy as np

import fmumbs as fm

MASS, ARM, K, PRELOAD = 0.08, 0.035, 4e4, 0.009  # valve [kg], rocker [m], spring [N/m, m]
ROCKER = fm.Body.box("rocker", size=(0.07, 0.012, 0.01), mass=0.1)
J = ROCKER.inertia[1][1]
LIFT = fm.Path.cam(0.28, rise=1.1, fall=1.1, law="4-5-6-7", period=2 * np.pi)  # [rad] over [rad]


def build(speed: float) -> fm.Model:
    """speed: of the camshaft [rad/s]."""
    model = fm.Model("valve_train", gravity=(0, 0, 0))
    shaft = fm.Body.cylinder("shaft", length=0.06, radius=0.015, mass=0.4, along="y")
    valve = fm.Body.cylinder("valve", length=0.08, radius=0.004, mass=MASS, along="z")
    turns = fm.Turn("y", role="excited", path=fm.Path.polynomial(0.0, speed))
    A = fm.Joint("A", model.ground.at(-ARM, 0, 0.03), shaft.at(0, 0.03, 0), modes=(turns,))
    B = fm.Revolute("B", model.ground.at(), ROCKER.at(*ROCKER.com), axis="y")
    C = fm.Prismatic("C", model.ground.at(ARM, 0, -0.06), valve.at(), axis="-z", stiffness=K, rest=-PRELOAD)
    model.add(shaft, ROCKER, valve, A, B, C, fm.Cam("cam", A, B, LIFT), fm.Coupling.rack("tip", B, C, radius=ARM))
    return model


def contact(speed: float, angles: np.ndarray) -> np.ndarray:
    """The torque of the cam on the rocker."""
    f, _, bend = np.array([LIFT(a) for a in angles]).T
    return (J + MASS * ARM**2) * speed**2 * bend + K * ARM * (ARM * f + PRELOAD)


round_about = np.linspace(0, 2 * np.pi, 3601)
leaves = 1.0 / np.sqrt(np.max((contact(0.0, round_about) - contact(1.0, round_about)) / contact(0.0, round_about)))
print(f"the rocker leaves the cam at {leaves:.1f} rad/s")
figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
for speed in (0.5 * leaves, 0.98 * leaves, 1.02 * leaves):
    result = fm.simulate(build(speed), stop=2 * np.pi / speed, interval=2 * np.pi / speed / 720)
    expected = contact(speed, speed * result.time)
    least = result["cam.tau[1]"].min()
    lift = 1e3 * result["C.q"].max()
    print(f"{speed:6.1f} rad/s: lift {lift:.3f} mm, least torque {least:+.4f} N.m ({expected.min():+.4f})")
    assert np.allclose(result["cam.tau[1]"], expected, rtol=0, atol=1e-6 * np.abs(expected).max())
    assert (least > 0.0) == (speed < leaves)
    axes.plot(np.degrees(speed * result.time), result["cam.tau[1]"], label=f"{speed:.0f} rad/s")
axes.set(xlabel="camshaft [degrees]", ylabel="torque of the cam on the rocker [N.m]")
axes.legend()
figure.savefig("valve_train.png", dpi=100)
result.view().save("valve_train.html")
