"""An excavator's boom and stick, moved by hydraulic cylinders whose valves are opened one after the other.

`fm.Cylinder` has two pressures as states, and `fm.Valve` opens its chambers to the supply and the tank by an input.
The run starts in equilibrium: shut chambers, filled under pressure, carry the weight. Then the boom is lifted and the
stick swung out. What the oil brings in, the integral of p_A q_A + p_B q_B of both cylinders, is what the energy of the
mechanism and of the oil grows by, and a piston moves by the integral of q_A/A, both but for the oil's strain p/beta,
which is below 2 %. Narrow valves and a tank under pressure keep it from cavitating. SI units, expected in brackets.
"""

import matplotlib.pyplot as plt
import numpy as np

import fmumbs as fm

BOOM, STICK, BUCKET = 1500.0, 700.0, 900.0  # [kg]
AREA, RING, STROKE = 12e-3, 8e-3, 1.2  # of the pistons [m2, m2, m]
VALVE = fm.Valve(rated_flow=1e-3, rated_drop=35e5, supply=2.5e7, tank=5e5)
SIZES = {"area_A": AREA, "area_B": RING, "stroke": STROKE, "dead_volume_A": 1e-3, "dead_volume_B": 1e-3}


def build() -> fm.Model:
    model = fm.Model("excavator")
    boom = fm.Body.rod("boom", length=5.0, mass=BOOM)
    stick = fm.Body.rod("stick", length=2.8, mass=STICK)
    bucket = fm.Body.box("bucket", size=(0.9, 1.0, 0.7), mass=BUCKET)
    foot = fm.Revolute("foot", model.ground.at(0, 0, 1.2), boom.base, axis="-y", q0=0.5)
    elbow = fm.Revolute("elbow", boom.tip, stick.base, axis="-y", q0=-1.6)
    model.add(boom, stick, bucket, foot, elbow, fm.Weld("wrist", stick.tip, bucket.at(0, 0, 0.35)))
    for name, P, Q, closed, p_A, p_B in (
        ("lift", model.ground.at(0.6, 0, 0.6), boom.at(2.2), 1.2, 141e5, 40e5),
        ("swing", boom.at(3.2, 0, 0.5), stick.at(-0.6), 1.3, 60e5, 120e5),
    ):
        given = SIZES | {"pressure_A": p_A, "pressure_B": p_B, "closed_length": closed}
        model.add(fm.Cylinder(name, P, Q, valve=VALVE, **given))
    return model


opened = {"lift.opening": fm.Signal([0.0, 0.5, 1.0, 2.5, 3.0], [0.0, 0.0, 0.7, 0.7, 0.0])}
opened |= {"swing.opening": fm.Signal([0.0, 3.0, 3.5, 5.0, 5.5], [0.0, 0.0, -0.5, -0.5, 0.0])}
result = fm.simulate(build(), stop=6.0, interval=1e-3, inputs=opened, equilibrium=True)
work = 0.0
for name in ("lift", "swing"):
    flow_A, flow_B, x = (result[f"{name}.{what}"] for what in ("flow_A", "flow_B", "position"))
    work += np.trapezoid(result[f"{name}.pressure_A"] * flow_A + result[f"{name}.pressure_B"] * flow_B, result.time)
    pumped = np.trapezoid(flow_A, result.time) / AREA
    print(f"{name}: from {x[0]:.3f} to {x[-1]:.3f} m, {1e3 * (x[-1] - x[0]):+.1f} mm ({1e3 * pumped:+.1f})", end=", ")
    least, most = (f(result[f"{name}.pressure_{end}"]) / 1e5 for f, end in ((np.min, "B"), (np.max, "A")))
    print(f"{least:.0f} bar at least in B, {most:.0f} at most in A")
    assert abs(x[-1] - x[0] - pumped) < 0.01 and not result[f"{name}.cavitation"].any()
grown = np.ptp(result["solver.energy"][[0, -1]])
print(f"energy grows by {grown / 1e3:.3f} kJ ({work / 1e3:.3f})")
assert abs(grown / work - 1.0) < 0.02

figure, (one, other) = plt.subplots(2, 1, figsize=(7, 6), layout="constrained")
one.plot(result.time, result["lift.position"], result.time, result["swing.position"], "--")
one.set_ylabel("lift, swing (dashed) [m]")
other.plot(result.time, result["lift.pressure_A"] / 1e5, result.time, result["swing.pressure_A"] / 1e5, "--")
other.set(ylabel="pressures behind the pistons [bar]", xlabel="time [s]")
figure.savefig("excavator.png", dpi=100)
result.view().save("excavator.html")
