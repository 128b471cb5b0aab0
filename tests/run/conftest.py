"""A cart on a rail: what it does follows from its force alone."""

import pytest

import fmumbs as fm
from fmumbs.compiler import ModelImage, compile


def build() -> fm.Model:
    """2 kg that slide along x without friction, and a pendulum on the ground beside it."""
    model = fm.Model("cart", gravity=(0.0, 0.0, -9.81))
    cart = fm.Body("cart", mass=2.0, inertia=(0.1, 0.1, 0.1))
    rod = fm.Body.rod("rod", length=1.0, mass=1.0, radius=0.01, along="-z")
    model.add(cart, rod)
    model.add(fm.Prismatic("J", model.ground.at(), cart.at(), axis="x"))
    model.add(fm.Spherical("S", model.ground.at(0.0, 5.0), rod.base, u0=(0.5, 0.0, 0.0)))
    model.add(fm.Load("L", cart.at()))
    model.experiment(stop=1.0, interval=0.1)
    return model


@pytest.fixture
def cart() -> fm.Model:
    return build()


@pytest.fixture(scope="session")
def image() -> ModelImage:
    return compile(build())
