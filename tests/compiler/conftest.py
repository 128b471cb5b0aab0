"""One model with an element of every kind, and images of it."""

import pytest

import fmumbs as fm
from fmumbs.compiler import ModelImage, compile


def build() -> fm.Model:
    """Two trees: an arm that ends in a ball joint, and a free body with another welded to it."""
    model = fm.Model("zoo", description="Every kind of element, ünïcode too")
    ground = model.ground
    arm = fm.Body.rod("arm", length=1.0, mass=1.0, radius=0.05)
    slide = fm.Body.box("slide", size=(0.1, 0.2, 0.3), mass=2.0)
    ball = fm.Body("ball", mass=0.5, inertia=(0.2, 0.2, 0.3, 0.0, 0.0, 0.01), points={"mark": (0.0, 0.1, 0.0)})
    bird = fm.Body.sphere("bird", radius=0.1, mass=1.0)
    egg = fm.Body.sphere("egg", radius=0.05, mass=0.1)
    model.add(arm, slide, ball, bird, egg)
    model.add(fm.Revolute("A", ground.at(), arm.base, axis="y", q0=0.2, u0=-0.5, stiffness=3.0))
    model.add(fm.Prismatic("P", arm.tip, slide.base, axis="x", damping=0.5, rotor_inertia=0.1))
    model.add(fm.Spherical("S", slide.tip, ball.at(0.1, 0.0, 0.0)))
    model.add(fm.Free("F", ground.at(1.0, 0.0, 0.0), bird.at(), q0=(0.1, 0.2, 0.3, 1.0, 0.0, 0.0, 0.0)))
    model.add(fm.Weld("W", bird.at(0.0, 0.0, -0.1), egg.at()))
    model.add(fm.Spring("k", arm.at(0.5), ground.at(0.0, 0.0, 3.0), stiffness=2.0))
    model.add(fm.Load("L", ball.at(0.0, 0.0, 0.1), force=(1.0, 2.0, 3.0)), fm.Load("push", bird.at()))
    model.experiment(stop=2.0, interval=0.1)
    return model


@pytest.fixture
def zoo() -> fm.Model:
    return build()


@pytest.fixture(scope="session")
def image() -> ModelImage:
    """With every variable."""
    return compile(build())


@pytest.fixture
def narrow() -> fm.Model:
    """With declared variables."""
    model = build()
    model.input("torque", to="A.tau")
    model.input("wind", to="L.force")
    model.output("angle", of="A.q")
    model.output("rate", of="A.qd")
    model.output("height", of="arm.tip.r[3]")
    model.output("pose", of="F.q")
    model.parameter("weight", of="arm.mass")
    return model
