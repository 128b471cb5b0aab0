"""Pictures of a mechanism: the first look at a model, and a film for the report.

Most mistakes in a model are seen before they are computed: a body at the wrong end of a joint, an axis that points the
wrong way. `model.picture()` draws a mechanism at its start, with its joints as symbols, and names; one that moves in a
plane is seen along the plane's normal. `result.view()` makes one page for a browser, which plays the motion, and
`result.animate()` a film for the report.

The mechanism is the quick-return drive of a shaper: the crank's pin slides in a lever, so the ram goes forwards slowly
and returns fast. How much faster is geometry: the forward stroke takes 1/2 + asin(r/d)/pi of a turn, with r the crank's
radius and d the distance of the two pivots. SI units, angles in rad.
"""

import numpy as np

import fmumbs as fm

CRANK, DISTANCE, LEVER, SPEED = 0.10, 0.25, 0.55, 6.0  # r, d [m], lever [m], crank [rad/s]

model = fm.Model("shaper", gravity=(0, 0, 0))
crank = fm.Body.rod("crank", length=CRANK, mass=1.5, radius=0.02)
block = fm.Body.box("block", size=(0.05, 0.04, 0.04), mass=0.3)
lever = fm.Body.rod("lever", length=LEVER, mass=3.0, radius=0.015, along="z")
ram = fm.Body.box("ram", size=(0.4, 0.06, 0.06), mass=12.0)
turning = fm.Turn("y", role="excited", path=fm.Path.polynomial(0.0, SPEED))
drive = fm.Joint("drive", model.ground.at(0, 0, DISTANCE), crank.base, modes=[turning])
foot = fm.Revolute("foot", model.ground.at(), lever.base, axis="y")
model.add(crank, block, lever, ram, drive, foot)
model.add(fm.Revolute("pin", crank.tip, block.at(0.025, 0, 0), axis="y"))
model.add(fm.Prismatic("slot", lever.at(), block.at(0.025, 0, 0), axis="z", q0=float(np.hypot(CRANK, DISTANCE))))
model.add(fm.Prismatic("guide", model.ground.at(0, 0, LEVER), ram.at(0.2, 0, 0), axis="x"))
slide = [fm.Turn("y"), fm.Slide("z")]  # the ram's pin turns and slides in the lever's fork
model.add(fm.Joint("fork", ram.at(0.2, 0, 0), lever.tip, modes=slide))
model.picture("picture.png")

period = 2 * np.pi / SPEED
result = fm.simulate(model, stop=period, interval=period / 720, tolerance=1e-9)
forward, theory = float((result["guide.qd"] > 0).mean()), 0.5 + np.arcsin(CRANK / DISTANCE) / np.pi
stroke = float(np.ptp(result["guide.q"]))
print(f"the ram goes {stroke:.3f} m, forwards in {forward:.3f} of a turn; by geometry {theory:.3f}")
assert abs(forward - theory) < 3e-3  # two instants of 720
result.view().save("shaper.html")
result.animate("shaper.gif", fps=12, speed=0.5)
