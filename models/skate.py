"""Skate: a knife edge on a slope, which turns and does not slip sideways. SI units, angles in rad.

With the edge under its centre of mass, a skate that turns at the rate w does not glide down the slope, but back and
forth on a cycloid across it: v = (g sin(slope) / w) sin(w t) from rest.
"""

import fmumbs as fm


def build(mass=2.0, size=0.3, slope=0.2, speed=0.0, turning=1.5, ahead=0.0) -> fm.Model:
    """Mass [kg]; length [m]; slope [rad]; speed [m/s] and rate [rad/s] at the start; centre ahead of the edge [m]."""
    model = fm.Model("skate", gravity=(0, 0, -9.81), description="Knife edge on a slope: a nonholonomic joint")
    moment = mass * size**2 / 12
    runner = fm.Body("runner", mass=mass, com=(ahead, 0, 0.05), inertia=(moment / 4, moment, moment))
    slipway = model.ground.at(rotation=fm.Rotation.about("y", slope))  # its x points down
    model.add(runner, fm.Skate("K", slipway, runner.at(), u0=(speed, turning)))
    model.experiment(stop=10.0, interval=0.01)
    return model


if __name__ == "__main__":
    fm.simulate(build(), stop=10.0).plot("runner.r[2]")
    fm.export_fmu(build(), "fmus/skate.fmu")
