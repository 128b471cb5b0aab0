"""Models of the things that pictures and pages draw."""

import fmumbs as fm


def everything() -> fm.Model:
    """A model with each kind of thing that the page draws."""
    model = fm.Model("everything", description="<b>&amp;</b></script><script>alert(1)</script>")
    ground = model.ground
    box = fm.Body.box("box", size=(0.2, 0.3, 0.1), mass=1.0)
    ball = fm.Body.sphere("ball", radius=0.1, mass=1.0)
    point = fm.Body("point", mass=1.0)
    beam = fm.ModalBody.beam("beam", length=1.0, EI=5.0, mass=0.5, q0=(0.05, 0.0), plane="xz")
    link = fm.FlexibleLink("link", length=0.8, EIy=2.0, EIz=2.0, GJ=1.0, mass=0.2, axial_inertia=1e-3, elements=3)
    disc = fm.Body("disc", mass=1.0, inertia=(0.005, 0.01, 0.005))
    model.add(box, ball, point, beam, link, disc)
    model.add(
        fm.Cylindrical("C", ground.at(0, 0, 1), box.at(), axis="x"),
        fm.Universal("U", box.tip, ball.at(0, 0.2, 0)),
        fm.Prismatic("S", ground.at(1, 1, 1), point.at()),
        fm.Revolute("R", ground.at(0, 1, 1), beam.base, axis="y"),
        fm.Spherical("B", ground.at(-1, 0, 1), link.base),
        fm.Free("F", ground.at(), disc.at(), q0=(1, 0, 0, 0, 0.5, -1, 0.1)),
        fm.Rolling("W", ground.at(), disc.at(), radius=0.1),
        fm.Spring("spring", ground.at(0, 0, 2), ball.at(), stiffness=10.0, damping=1.0, free_length=0.5),
        fm.Load("load", point.at(name="eye"), force=(0, 0, 3.0), torque=(1.0, 0, 0)),
    )
    return model
