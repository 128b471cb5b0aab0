"""The camber curve of a double wishbone, against the geometry.

The wheel of a front suspension is moved through its travel, and camber, toe and the rate at the wheel are read off. A
program on the wheel's centre moves it; the program's drive is the force that this takes, the load at the wheel. Upper
arm and tie rod close loops, which the compiler finds. Seen from the front, arms whose axes lie along the car make a
four-bar, so the camber has a closed form: two circles intersect. SI units: x forwards, y to the left, z up.
"""

import matplotlib.pyplot as plt
import numpy as np

import fmumbs as fm

LOW, LOW_BALL = np.array([0, 0.35, 0.20]), np.array([0, 0.72, 0.18])  # lower arm: axis, ball [m]
TOP, TOP_BALL = np.array([0, 0.42, 0.48]), np.array([0, 0.68, 0.50])
TIE, TIE_BALL = np.array([-0.12, 0.37, 0.24]), np.array([-0.12, 0.71, 0.227])
CENTRE, TRAVEL = np.array([0, 0.80, 0.31]), 0.08  # of the wheel, up and down [m]

model = fm.Model("double_wishbone")
ground = model.ground
lower = fm.Body("lower", mass=3.5, com=(LOW_BALL - LOW) / 2, inertia=(0.05, 0.02, 0.05))
upper = fm.Body("upper", mass=1.8, com=(TOP_BALL - TOP) / 2, inertia=(0.02, 0.01, 0.02))
upright = fm.Body("upright", mass=28.0, com=CENTRE, inertia=(0.6, 1.0, 0.6))  # with the wheel
centre = upright.at(*CENTRE, name="centre")
model.add(lower, upper, upright)
model.add(fm.Revolute("lower_axis", ground.at(*LOW), lower.at(), axis="x"))
model.add(fm.Spherical("lower_ball", lower.at(*(LOW_BALL - LOW)), upright.at(*LOW_BALL)))
model.add(fm.Revolute("upper_axis", ground.at(*TOP), upper.at(), axis="x"))
model.add(fm.Spherical("upper_ball", upper.at(*(TOP_BALL - TOP)), upright.at(*TOP_BALL)))
length = float(np.linalg.norm(TIE_BALL - TIE))
model.add(fm.Distance("tie_rod", ground.at(*TIE), upright.at(*TIE_BALL), length=length))
foot = lower.at(*(0.7 * (LOW_BALL - LOW)))
model.add(fm.Spring("spring", ground.at(0, 0.45, 0.60), foot, stiffness=60e3, free_length=0.52))
z = fm.Path.quintic([0, 1, 2], [CENTRE[2], CENTRE[2] - TRAVEL, CENTRE[2] + TRAVEL])
model.add(fm.ProgrammedPoint("travel", centre, directions="z", path=[z]))
result = fm.simulate(model, stop=2.0, interval=0.01)

c, s = np.cos(result["lower_axis.q"]), np.sin(result["lower_axis.q"])  # where the lower ball is, and then
(dy, dz), link = (LOW_BALL - LOW)[1:], TOP_BALL - LOW_BALL  # the circle about it that the upper ball is on
to_y, to_z = TOP[1] - LOW[1] - c * dy + s * dz, TOP[2] - LOW[2] - s * dy - c * dz
d, long, short = np.hypot(to_y, to_z), np.linalg.norm(link), np.linalg.norm(TOP_BALL - TOP)
ball = np.arctan2(to_z, to_y) - np.arccos((long**2 + d**2 - short**2) / (2 * long * d))
exact = np.degrees(ball - np.arctan2(link[2], link[1]))
camber, toe = (2 * np.degrees(np.arctan2(result[f"upright.quat[{i}]"], result["upright.quat[1]"])) for i in (2, 4))
load, travel = result["travel.drive"], 1e3 * (result["travel.target"] - CENTRE[2])
print(f"camber from {exact.min():.2f} to {exact.max():.2f} deg, toe up to {np.abs(toe).max():.2f} deg")
print(f"load at the wheel {load[0]:.0f} N, rate {(load[-1] - load[100]) / (travel[-1] - travel[100]):.1f} N/mm")
assert np.abs(camber - exact).max() < 2e-3  # [deg]: of the small turns' order
figure, axis = plt.subplots(figsize=(6, 5), layout="constrained")
axis.plot(camber, travel, label="camber")
axis.plot(exact[::10], travel[::10], "k.", label="camber, from the geometry")
axis.plot(toe, travel, "--", label="toe")
axis.set(xlabel="[deg]", ylabel="travel of the wheel [mm]")
axis.legend()
figure.savefig("double_wishbone.png", dpi=100)
