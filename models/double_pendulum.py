"""Double pendulum: two rods on revolute joints, released from the horizontal. SI units, angles in rad."""

import fmumbs as fm


def build(upper=1.0, lower=0.8, mass=1.0, radius=0.02, damping=0.0) -> fm.Model:
    """Lengths `upper` and `lower` [m]; mass [kg], radius [m] and damping [N.m.s/rad] of both."""
    model = fm.Model("double_pendulum", gravity=(0, 0, -9.81), description="Two rods on revolute joints")
    a = fm.Body.rod("upper", length=upper, mass=mass, radius=radius)
    b = fm.Body.rod("lower", length=lower, mass=mass, radius=radius)
    A = fm.Revolute("A", model.ground.at(0, 0, 0), a.base, axis="y", damping=damping)
    B = fm.Revolute("B", a.tip, b.base, axis="y", damping=damping)
    model.add(a, b, A, B)
    model.experiment(stop=5.0, interval=0.01)
    return model


if __name__ == "__main__":
    fm.simulate(build(), stop=5.0).plot("B.q")
    fm.export_fmu(build(), "fmus/double_pendulum.fmu")
