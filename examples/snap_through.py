"""Snap-through and buckling: equilibria under a load that grows, past limit points and along a chosen branch.

A deep arch of 215 degrees, clamped on the left and hinged on the right, carries a load on its crown. It is made of
flexible links and bends to the right until it snaps at 8.97 EI/R^2 (DaDeppo and Schmidt 1975); a simulation or a static
search would jump there, `fm.load_path` follows the equilibria on. A slender column buckles at Euler's load; its path
stays straight and unstable, and `switch()` takes a side. Dashed lines are unstable. SI units.
"""

import matplotlib.pyplot as plt
import numpy as np

import fmumbs as fm

LINKS = 24  # of the arch
ANGLE, RADIUS, BENDING = np.deg2rad(215.0), 1.0, 1.0  # [rad], [m], [N.m2]

# The arch: chords that are welded to one another ----------------------------------------------------------------
arch = fm.Model("arch", gravity=(0, 0, 0))
turns = np.linspace(-ANGLE / 2, ANGLE / 2, LINKS + 1)
points = RADIUS * np.stack([np.sin(turns), 0 * turns, np.cos(turns)], axis=1)
at, before = arch.ground.at(*points[0]), 0.0
for i, chord in enumerate(np.diff(points, axis=0)):
    slope, length = -float(np.arctan2(chord[2], chord[0])), float(np.linalg.norm(chord))
    link = fm.FlexibleLink(f"b{i}", length=length, mass=0.1, elements=1, plane="xz", EIy=BENDING)
    begin = link.base.body.at(*link.base.X_BP.offset, rotation=fm.Rotation.about("y", before - slope))
    arch.add(link, fm.Weld(f"w{i}", at, begin))
    at, before = link.tip, slope
    if 2 * (i + 1) == LINKS:
        arch.add(fm.Load("crown", at))
        top = f"b{i}_2.r"  # of the crown's body
arch.add(fm.Revolute("hinge", arch.ground.at(*points[-1]), at, axis="y"))
snap = fm.load_path(arch, {"crown.force": (0, 0, -1)}, to=12.0, outputs=[top])
print(snap)
assert abs(snap.critical_factor / 8.97 - 1.0) < 0.02  # chords of an arc

# The column, and both sides to which it buckles -----------------------------------------------------------------
column = fm.Model("column", gravity=(0, 0, 0))
rod = fm.FlexibleLink("rod", length=1.0, mass=1.0, elements=20, plane="xy", EIz=BENDING)
column.add(rod, fm.Weld("foot", column.ground.at(), rod.base), fm.Load("press", rod.tip))
straight = fm.load_path(column, {"press.force": (-1, 0, 0)}, to=4.0, outputs=["rod_21.r"])
print(straight)
sides = [straight.switch(0, {"rod_e1.q": side}) for side in (1.0, -1.0)]
assert abs(straight.critical_factor / (np.pi**2 / 4) - 1.0) < 1e-3 and all(side.stable.all() for side in sides)

# The picture ----------------------------------------------------------------------------------------------------
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
for axes, one, coordinate in ((left, snap, 2), (right, straight, 1), (right, sides[0], 1), (right, sides[1], 1)):
    place = one[top if one is snap else "rod_21.r"][:, coordinate]
    axes.plot(np.where(one.stable, place, np.nan), one.factors, "-", color="C0")
    unstable = ~one.stable | np.append(~one.stable[1:], False) | np.append(False, ~one.stable[:-1])
    axes.plot(np.where(unstable, place, np.nan), one.factors, "--", color="C1")
    for point in one.critical:
        axes.plot(one.at_critical(point)[list(one)[coordinate]], point.factor, "ko", markersize=4)
left.set(xlabel="height of the crown [m]", ylabel="load [N]", title="arch of 215 degrees")
right.set(xlabel="deflection of the tip [m]", title="column")
figure.savefig("snap_through.png", dpi=100)
