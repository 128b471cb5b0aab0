"""Arm of six revolute joints with alternating axes x, y, z, a torque on each. SI units, angles in rad.

The links hang along -z when all angles are zero.
"""

import fmumbs as fm


def build(joints=6, length=1.0, mass=1.0, radius=0.05, q0=0.3, damping=0.1) -> fm.Model:
    """Length, radius [m] and mass [kg] of each link; q0 [rad] and damping [N.m.s/rad] of each joint."""
    model = fm.Model("arm6", gravity=(0, 0, -9.81), description="Arm of revolute joints, actuated")
    end = model.ground.at(0, 0, 0)
    for i in range(1, joints + 1):
        link = fm.Body.rod(f"link{i}", length=length, mass=mass, radius=radius, along="-z")
        joint = fm.Revolute(f"J{i}", end, link.base, axis="xyz"[(i - 1) % 3], q0=q0, damping=damping)
        model.add(link, joint)
        end = link.tip
    model.experiment(stop=5.0, interval=0.01)
    return model


if __name__ == "__main__":
    fm.simulate(build(), stop=5.0, inputs={"J2.tau": 10.0}).plot("J2.q")
    fm.export_fmu(build(), "fmus/arm6.fmu")
