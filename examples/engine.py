"""The bearing loads of an engine, against closed formulas.

One cylinder of a four-stroke diesel at 3000 1/min: the crank turns evenly, the gas pushes on the piston. Wanted are the
polar diagram of the crankpin's load and the greatest force on the gudgeon pin, for the choice of the bearings. The
pressure over the crank angle is a table, as an indicator measures it, and the input follows it as (times, values).

Crank, rod and piston form a loop in one plane. A rigid model leaves the forces across that plane open, but those in it
are unique, as `fm.uniqueness` confirms. The piston's acceleration has a closed form, which gives the force of the
gudgeon pin along the bore, m a + gas. SI units, angles in rad.
"""

import matplotlib.pyplot as plt
import numpy as np

import fmumbs as fm

R, ROD, PISTON, BORE = 0.045, 0.145, 0.75, np.pi * 0.04**2  # crank, rod [m], piston [kg], its area [m2]
W = 3000 * 2 * np.pi / 60  # [rad/s]
ANGLES = np.radians([0, 5, 12, 25, 40, 60, 90, 130, 180, 540, 600, 640, 670, 690, 705, 715, 720])  # of the crank
BARS = np.array([95, 120, 105, 62, 34, 17, 8.5, 4.5, 1, 1, 2.5, 6, 14, 28, 52, 80, 95])
CYCLE = 4 * np.pi / W  # [s]


def build() -> fm.Model:
    """The crank turns about y, the bore lies along z; at time 0 the piston is at its top."""
    model = fm.Model("engine", gravity=(0, 0, 0))
    crank = fm.Body("crank", mass=3.0, com=(0, 0, 0), inertia=(0.01, 0.02, 0.01))
    rod = fm.Body.rod("rod", length=ROD, mass=0.9, radius=0.015, along="z")
    piston = fm.Body.cylinder("piston", length=0.07, radius=0.04, mass=PISTON, along="z")
    turning = fm.Turn("y", role="excited", path=fm.Path.polynomial(0.0, W))
    main = fm.Joint("main", model.ground.at(), crank.at(), modes=[turning])
    crankpin = fm.Revolute("crankpin", crank.at(0, 0, R), rod.base, axis="y")
    bore = fm.Prismatic("bore", model.ground.at(), piston.base, axis="z", q0=R + ROD)
    model.add(crank, rod, piston, main, crankpin, bore)
    model.add(fm.Revolute("gudgeon", piston.base, rod.tip, axis="y"))  # closes the loop
    return model


gas = -1e5 * BORE * BARS  # [N]
result = fm.simulate(build(), stop=CYCLE, interval=CYCLE / 720, inputs={"bore.f": (ANGLES / W, gas)})
s, c = np.sin(W * result.time), np.cos(W * result.time)
a = -R * W**2 * (c + R * (ROD**2 * (c**2 - s**2) + R**2 * s**4) / np.sqrt(ROD**2 - (R * s) ** 2) ** 3)
along = PISTON * a - np.interp(W * result.time, ANGLES, gas)  # what the rod gives the piston, along the bore [N]
pin, crankpin = -result["gudgeon.reaction.f"], result["crankpin.reaction.f"]  # on the piston, in its axes; on the rod
largest = [np.abs(values).max() / 1e3 for values in (pin[:, 2], pin[:, 0], np.linalg.norm(crankpin, axis=1))]
print("gudgeon pin: up to {:.2f} kN along the bore, {:.2f} across; crankpin: up to {:.2f}".format(*largest))
print(f"the closed formula differs by up to {np.abs(pin[:, 2] - along).max():.1e} N")
assert np.abs(pin[:, 2] - along).max() < 1e-3  # of 56 kN
found = fm.uniqueness(build())
known = all(joint.components_unique[i] for joint in found.joints for i in (0, 2))
print(f"{found.redundant} reactions are not unique; forces in the plane are unique: {known}")
assert known
figure, (load, polar) = plt.subplots(1, 2, figsize=(10, 4.5), layout="constrained")
load.plot(np.degrees(W * result.time), pin[:, 2] / 1e3, label="gudgeon pin, along the bore")
load.plot(np.degrees(W * result.time)[::20], along[::20] / 1e3, "k.", label="m a + gas")
load.set(xlabel="crank [deg]", ylabel="[kN]")
load.legend()
polar.plot(crankpin[:, 0] / 1e3, crankpin[:, 2] / 1e3)
polar.set(xlabel="x of the crank [kN]", ylabel="z, along the crank [kN]", title="crankpin", aspect="equal")
figure.savefig("engine.png", dpi=100)
