"""Pendulum: a rod on a revolute joint, released from the horizontal. SI units, angles in rad."""

import fmumbs as fm


def build(length=1.0, mass=1.0, radius=0.02, q0=0.0, damping=0.0) -> fm.Model:
    """A solid cylinder; length, radius [m], mass [kg]; q0 [rad] below the horizontal; damping [N.m.s/rad]."""
    model = fm.Model("pendulum", gravity=(0, 0, -9.81), description="Rod on a revolute joint")
    rod = fm.Body.rod("rod", length=length, mass=mass, radius=radius)
    A = fm.Revolute("A", model.ground.at(0, 0, 0), rod.base, axis="y", q0=q0, damping=damping)
    model.add(rod, A)
    model.experiment(stop=5.0, interval=0.01)
    return model


if __name__ == "__main__":
    fm.simulate(build(), stop=5.0).plot("A.q")
    fm.export_fmu(build(), "fmus/pendulum.fmu")
