"""Angles beyond a turn that are round numbers: the user is asked whether degrees are meant."""

import math
import re
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

import fmumbs as fm
from fmumbs.cli import main

rod = fm.Body.rod("rod", length=1.0, mass=1.0)
F, M = fm.Model("m").ground.at(), rod.base
hinge = fm.Revolute("A", F, M, axis="y")
slide = fm.Prismatic("P", F, M)

ASKED: dict[str, tuple[Callable[[float], object], str]] = {
    "q0": (lambda a: fm.Revolute("A", F, M, q0=a), "Revolute 'A': q0"),
    "rest": (lambda a: fm.Revolute("A", F, M, rest=a), "Revolute 'A': rest"),
    "one of several": (lambda a: fm.Planar("E", F, M, q0=(30.0, 40.0, a)), "Planar 'E': q0[3]"),
    "rest of several": (lambda a: fm.Cylindrical("C", F, M, rest=(a, 40.0)), "Cylindrical 'C': rest[1]"),
    "locked": (lambda a: fm.Turn("x", role="locked", value=a), "Mode: value"),
    "excited": (lambda a: fm.Turn("x", role="excited", input="eta", cutoff=9.0, eta0=a), "Mode: eta0"),
    "stop": (lambda a: fm.Stop("S", hinge, upper=a, stiffness=1.0), "Stop 'S': upper"),
    "rotation": (lambda a: fm.Rotation.about("z", a), "Rotation: angle"),
    "pitch": (lambda a: fm.Rotation.rpy(0.0, a, 0.0), "Rotation: pitch"),
    "start of an FMU": (lambda a: fm.compile(pendulum(), starts={"A.q": a}), "'m': A.q"),
    "input": (lambda a: pendulum().simulate(stop=0.01, inputs={"A.q": a}), "'m': A.q"),
}


def pendulum() -> fm.Model:
    model = fm.Model("m")
    model.add(rod, hinge)
    return model


@pytest.mark.parametrize("what", ASKED)
@pytest.mark.parametrize("degrees", [30.0, -90.0, 22.5])
def test_a_round_angle_beyond_a_turn_is_asked_about(what: str, degrees: float) -> None:
    give, where = ASKED[what]
    with pytest.warns(fm.StartWarning, match=re.escape(f"{where} is {degrees:g} rad")) as caught:
        give(degrees)
    assert f"is {degrees:g} degrees meant?" in str(caught[0].message)
    assert f"math.radians({degrees:g}), which is {math.radians(degrees):.4g}." in str(caught[0].message)
    assert caught[0].filename == __file__  # the user's line, however deep the check


@pytest.mark.parametrize("what", ASKED)
@pytest.mark.parametrize("angle", [6.0, -6.0, 4 * math.pi, 12.3, math.radians(-400.0)])
def test_other_angles_are_taken_as_they_are(what: str, angle: float) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", fm.StartWarning)
        ASKED[what][0](angle)


def test_lengths_and_velocities_are_no_angles() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", fm.StartWarning)
        fm.Prismatic("P", F, M, q0=30.0, rest=45.0)
        fm.Revolute("A", F, M, u0=30.0)
        fm.Stop("S", slide, lower=-30.0, stiffness=1.0)
        pendulum().simulate(stop=0.01, inputs={"A.tau": 30.0, "A.qd": 90.0})


def test_what_turns_further_inside_is_not_asked_about() -> None:
    """The package's own rotations, of joints that have turned."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", fm.StartWarning)
        hinge.transform((30.0,))


def test_the_command_line_asks_once(tmp_path: Path) -> None:
    """`run` on its own, and `check` among its findings."""
    (tmp_path / "m.py").write_text(
        "import fmumbs as fm\n\n\ndef build():\n    model = fm.Model('m')\n"
        "    rod = fm.Body.rod('rod', length=1.0, mass=1.0)\n"
        "    model.add(rod, fm.Revolute('A', model.ground.at(), rod.base, axis='y', q0=30))\n    return model\n"
    )
    for verb in ("run", "check"):
        done = CliRunner().invoke(main, [verb, str(tmp_path / "m.py"), *(("--stop", "0.01") if verb == "run" else ())])
        assert done.exit_code == 0 and len(re.findall("30 degrees", done.output)) == 1, done.output
