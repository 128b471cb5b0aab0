"""What a Coupling refuses, each in one short line that names the term."""

import pytest

import fmumbs as fm
from fmumbs.errors import ModelError

GROUND = fm.Model("m").ground
BODIES = [fm.Body.rod(name, length=1.0, mass=1.0) for name in "abc"]
A = fm.Revolute("A", GROUND.at(), BODIES[0].base)
S = fm.Prismatic("S", GROUND.at(), BODIES[1].base)
BALL = fm.Spherical("B", GROUND.at(), BODIES[2].base)


@pytest.mark.parametrize("terms", [[A], [(BODIES[0], 1.0)], {A: 1.0}, [(A, 1, 1.0, 2.0)], ["A"]])
def test_a_wrong_term_is_shown_shortly(terms: object) -> None:
    """A joint without a ratio, a body: their whole contents would hide what is wrong."""
    with pytest.raises(ModelError, match=r"^Coupling 'k': terms\[1\] is .{1,60}\. Give \(joint, ratio\)"):
        fm.Coupling("k", terms)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("terms", "says"),
    [
        ([], "terms is empty"),
        ([(A, 1.0), (S, 0.0)], r"terms\[2\]: ratio is zero, so joint 'S' is not coupled"),
        ([(A, 1.0), (A, 1, 2.0)], "terms has joint 'A', mode 1, twice"),
        ([(A, 2, 1.0)], r"terms\[1\]: mode 2 of joint 'A' does not exist; the joint has 1"),
        ([(BALL, 1.0)], r"terms\[1\]: mode 1 of joint 'B' does not exist; the joint has 0"),
        ([(A, "fast")], r"terms\[1\]: ratio is 'fast', which is not a number"),
    ],
)
def test_terms_that_couple_nothing_are_refused(terms: list[tuple[object, ...]], says: str) -> None:
    with pytest.raises(ModelError, match=rf"^Coupling 'k': {says}"):
        fm.Coupling("k", terms)  # type: ignore[arg-type]


def test_a_rack_takes_what_turns_then_what_slides() -> None:
    with pytest.raises(ModelError, match="joint 'S' slides"):
        fm.Coupling.rack("k", S, A, radius=0.1)
    assert fm.Coupling.rack("k", A, S, radius=0.1).coordinates == ((S, 1, 1.0), (A, 1, -0.1))
