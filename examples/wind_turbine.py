"""A wind turbine: forces that turn with the blades drive the rotor and bend the tower.

Each of three blades has a follower load (`fm.Load(axes="point")`): the wind's thrust T along the rotor's axis, and
the force F that drives it, both in the axes of the blade. The generator brakes with a torque c w, so that the speed
tends to w = 3 F r/c, with the time J/c. The tower is a rod on a spring of stiffness k at its foot, which tilts by

    k a = 3 T h + m g h a

with the mass m of what is at its top and half of its own, and the height h. Figures in brackets are expected. SI units.
"""

import matplotlib.pyplot as plt
import numpy as np

import fmumbs as fm

HEIGHT, REACH, G = 40.0, 12.0, 9.81  # of the hub, of the forces on the blades [m]
HUB, TOWER, BLADE, LENGTH = 3000.0, 8000.0, 400.0, 18.0  # [kg, kg, kg, m]
THRUST, DRIVE, BRAKE = 2500.0, 900.0, 1.5e4  # [N, N, N.m.s/rad]
STIFFNESS, DAMPING = 1.2e8, 8e6  # of the foot [N.m/rad, N.m.s/rad]


hub = fm.Body.cylinder("hub", length=2.0, radius=1.2, mass=HUB, along="x")


def build() -> fm.Model:
    model = fm.Model("wind_turbine", gravity=(0, 0, -G))
    tower = fm.Body.rod("tower", length=HEIGHT, mass=TOWER, along="z")
    foot = fm.Revolute("foot", model.ground.at(), tower.base, axis="y", stiffness=STIFFNESS, damping=DAMPING)
    main = fm.Revolute("main", tower.tip, hub.at(1, 0, 0), axis="x", damping=BRAKE)
    model.add(tower, hub, foot, main)
    for i in range(3):
        blade = fm.Body.rod(f"blade{i}", length=LENGTH, mass=BLADE, along="z")
        root = hub.at(1, 0, 0, rotation=fm.Rotation.about("x", 2 * np.pi * i / 3))
        load = fm.Load(f"wind{i}", blade.at(0, 0, REACH), force=(THRUST, -DRIVE, 0), axes="point")
        model.add(blade, fm.Weld(f"root{i}", root, blade.base), load)
    return model


result = fm.simulate(build(), stop=60.0, interval=0.05)
inertia = hub.inertia[0][0] + 3 * BLADE * LENGTH**2 / 3
speed, time = 3 * DRIVE * REACH / BRAKE, inertia / BRAKE
tilt = 3 * THRUST * HEIGHT / (STIFFNESS - (HUB + 3 * BLADE + TOWER / 2) * G * HEIGHT)
grown = speed * (1 - np.exp(-result.time / time))
print(f"speed {result['main.qd'][-1]:.5f} rad/s ({grown[-1]:.5f}), inertia {inertia:.0f} kg.m2")
print(f"the tower tilts by {1e3 * result['foot.q'][-1]:.4f} mrad ({1e3 * tilt:.4f})")
assert np.allclose(result["main.qd"], grown, rtol=0, atol=1e-4 * speed)
assert abs(result["foot.q"][-1] / tilt - 1.0) < 1e-3

figure, (one, other) = plt.subplots(2, 1, figsize=(7, 6), layout="constrained")
one.plot(result.time, result["main.qd"], result.time, grown, "--")
one.set(ylabel="rotor [rad/s]")
other.plot(result.time, 1e3 * result["foot.q"])
other.set(ylabel="tilt of the tower [mrad]", xlabel="time [s]")
figure.savefig("wind_turbine.png", dpi=100)
result.view().save("wind_turbine.html")
