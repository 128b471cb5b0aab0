"""A thin disc that rolls on a plane without slip: nonholonomic constraints. SI units, angles in rad."""

import numpy as np

import fmumbs as fm


def build(radius=0.3, mass=2.0, lean=0.2, speed=1.2, turn=0.3) -> fm.Model:
    """Radius [m], mass [kg]; at the start: lean from the vertical [rad], speed of the centre [m/s], turn [rad/s]."""
    model = fm.Model("rolling_disk", gravity=(0, 0, -9.81), description="A disc that rolls on a plane without slip.")
    disk = fm.Body("disk", mass=mass, inertia=[mass * radius**2 / k for k in (4, 2, 4)])
    place = (0.0, 0.0, radius * np.cos(lean))
    start = (*place, np.cos(lean / 2), np.sin(lean / 2), 0.0, 0.0)
    rates = (speed, 0.0, 0.0, 0.0, speed / radius, turn)
    model.add(disk, fm.Free("free", model.ground.at(), disk.at(), q0=start, u0=rates))
    model.add(fm.Rolling("contact", model.ground.at(), disk.at(), radius=radius, axis="y"))
    model.experiment(stop=5.0, interval=0.02)
    return model


if __name__ == "__main__":
    fm.simulate(build(), stop=5.0).plot("disk.r[1]", "disk.r[2]")
    fm.export_fmu(build(), "fmus/rolling_disk.fmu")
