"""A drone with a slung load: it falls into its rope with a jerk, and swings while the drone flies sideways.

The drone of 4 kg has its thrust as a follower load (`fm.Load(axes="point")`) and a torque, which a controller sets 200
times a second. A load of 1 kg hangs on an `fm.Rope` of 1.5 m. First the drone hovers at constant thrust and drops it by
0.4 m: the integrator stops where the rope becomes taut, and the jerk is that of the reduced mass mu = M m/(M + m) on
the stiffness k, T = mu g + sqrt((mu g)^2 + 2 mu g k h). Then the controller flies 3 m to the side with the load, and
ends at rest. Figures in brackets are expected. SI units.
"""

import matplotlib.pyplot as plt
import numpy as np

import fmumbs as fm

DRONE, LOAD, G, LENGTH, EA, DROP, AWAY = 4.0, 1.0, 9.81, 1.5, 3e3, 0.4, 3.0  # [kg, kg, m/s2, m, N, m, m]


def build(hang: float, damping: float) -> fm.Model:
    """hang: of the load below the drone at the start [m]."""
    model = fm.Model("slung_load", gravity=(0, 0, -G))
    drone = fm.Body("drone", mass=DRONE, inertia=(0.05, 0.06, 0.08))
    load = fm.Body("load", mass=LOAD, inertia=(0.01, 0.01, 0.01))
    fly = fm.Joint("fly", model.ground.at(), drone.at(), modes=(fm.Slide("x"), fm.Slide("z"), fm.Turn("y")))
    fall = fm.Joint("fall", model.ground.at(), load.at(), modes=(fm.Slide("x"), fm.Slide("z")), q0=(0.0, -hang))
    thrust = fm.Load("thrust", drone.at(), force=(0, 0, DRONE * G), axes="point")
    rope = fm.Rope("rope", [drone.at(), load.at()], stiffness=EA, damping=damping, length=LENGTH)
    model.add(drone, load, fly, fall, thrust, rope)
    return model


dropped = fm.simulate(build(LENGTH - DROP, 0.0), stop=0.35, interval=1e-4, tolerance=1e-9)
mu, k = DRONE * LOAD / (DRONE + LOAD), EA / LENGTH
jerk = mu * G + np.sqrt((mu * G) ** 2 + 2 * mu * G * k * DROP)
print(f"taut after {dropped.time[dropped['rope.tension'] > 0.0][0]:.4f} s ({np.sqrt(2 * DROP / G):.4f}),", end=" ")
print(f"jerk of {dropped['rope.tension'].max():.3f} N ({jerk:.3f})")
assert abs(dropped["rope.tension"].max() / jerk - 1.0) < 1e-4

solver = fm.Solver(build(LENGTH * (1 + LOAD * G / EA), 3.0))
solver.assemble()
rows = []
for t in np.arange(0.0, 12.0, 0.005):
    (x, z, tilt), (u, w, spin) = solver.get("fly.q"), solver.get("fly.qd")
    lean = np.clip(0.12 * (AWAY - x) - 0.28 * u, -0.3, 0.3)  # towards where it flies
    solver.set("thrust.force", (0, 0, (DRONE + LOAD) * G - 40.0 * z - 20.0 * w))
    solver.set("thrust.torque", (0, 6.0 * (lean - tilt) - 1.2 * spin, 0))
    rows.append([t, x, solver.get("fall.q")[0], solver.get("rope.tension"), solver.get("rope.power")])
    solver.step(t + 0.005)
time, x, of_load, tension, power = np.array(rows).T
print(f"at {x[-1]:.3f} m ({AWAY}), the load at {of_load[-1]:.3f} m, tension {tension[-1]:.3f} N ({LOAD * G:.3f})")
assert abs(x[-1] - AWAY) < 0.05 and abs(tension[-1] / (LOAD * G) - 1.0) < 0.02

figure, (one, other) = plt.subplots(2, 1, figsize=(7, 6), layout="constrained")
one.plot(dropped.time, dropped["rope.tension"])
one.set(ylabel="tension after the drop [N]", xlabel="time [s]")
other.plot(time, x, time, of_load, "--")
other.set(ylabel="drone, load (dashed) [m]", xlabel="time [s]")
figure.savefig("slung_load.png", dpi=100)
dropped.view().save("slung_load.html")
