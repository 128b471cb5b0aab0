"""Rotor with a brake and a clutch, whose normal forces are inputs. SI units, angles in rad.

The brake acts between the rotor and the ground (shaft.friction.normal), the clutch between the rotor and a flywheel
(clutch.friction.normal), both as normal force times radius [N.m]; a motor drives the rotor (shaft.tau). Both slide or
stick, with LuGre friction: the flywheel is carried along, the rotor held, as far as the pads can.
"""

import fmumbs as fm

PADS = fm.LuGre(0.4, 0.3, stribeck=0.05, stiffness=1e3, damping=1.0, viscous=0.0, pressed=True)


def build(rotor=0.02, flywheel=0.05, brake=PADS, clutch=PADS) -> fm.Model:
    """Moments of inertia about the axis [kg m2]; friction of the brake and of the clutch."""
    model = fm.Model("braked_rotor", description="Brake and clutch that slide and stick: LuGre friction")
    bodies = [
        fm.Body(name, mass=1.0, inertia=(moment, moment, moment))
        for name, moment in (("rotor", rotor), ("flywheel", flywheel))
    ]
    shaft = fm.Revolute("shaft", model.ground.at(), bodies[0].at(), axis="z", friction=brake)
    model.add(*bodies, shaft, fm.Revolute("clutch", bodies[0].at(), bodies[1].at(), axis="z", friction=clutch))
    model.experiment(stop=5.0, interval=0.01)
    return model


if __name__ == "__main__":
    inputs = {
        "shaft.tau": lambda t: 0.2 if t < 3.0 else 0.0,
        "clutch.friction.normal": lambda t: 2.0 if t > 1.0 else 0.0,
        "shaft.friction.normal": lambda t: 1.5 if t > 3.0 else 0.0,
    }
    fm.simulate(build(), inputs=inputs, scheme="radau").plot("shaft.qd", "clutch.qd")
    fm.export_fmu(build(), "fmus/braked_rotor.fmu")
