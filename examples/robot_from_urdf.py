"""A robot from its URDF: exported in three lines, and what its shoulder must carry.

`robot_from_urdf.urdf` is a crane arm as files of robots are: links, joints with limits and damping, a gripper whose
second finger mimics the first, a tool on a fixed joint. `fm.read_urdf` makes a model of it, and `fm.export_fmu` an FMU.
`model.reading` tells what was changed and left out, each with its line. Two checks: at rest, the torques that hold the
arm are the weights times their levers, worked out here from the numbers in the file; and under these torques it stays
where it is. SI units, angles in rad.
"""

from pathlib import Path

import fmumbs as fm

URDF = Path(__file__).with_suffix(".urdf")

model = fm.read_urdf(URDF)
fm.export_fmu(model, "crane_arm.fmu")
for row in (*model.reading.of("changed"), *model.reading.of("left out")):
    print(row)
print(", ".join(f"{ours} is {theirs}" for ours, theirs in model.source_names.items() if ours != theirs))

MASSES = {"boom": (8.0, 0.5), "jib": (4.0, 1.4), "gripper": (0.75, 1.9)}  # [kg], and from the shoulder, stretched [m]
lever = 9.81 * sum(mass * arm for mass, arm in MASSES.values())
elbow = 9.81 * sum(mass * (arm - 1.0) for mass, arm in MASSES.values() if arm > 1.0)
held = {"shoulder.tau": -lever, "elbow.tau": -elbow}
result = fm.simulate(model, stop=1.0, inputs=held)
moved = max(abs(result[f"{name}.q"][-1]) for name in ("shoulder", "elbow"))
print(f"shoulder {lever:.2f} N.m, elbow {elbow:.2f} N.m; after a second under them the arm has moved {moved:.0e} rad")
assert moved < 1e-9
model.picture("robot_from_urdf.png")
