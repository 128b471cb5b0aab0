"""The fix that a message suggests is accepted, and messages name nothing that the user cannot call."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

import fmumbs as fm
from fmumbs.compiler import compile
from fmumbs.readers import read_model

ADVICE = re.compile(r"[Gg]ive \d+ numbers such as \(([^)]*)\)")
SENTENCE = re.compile(r'"(?:[^"\\\n]|\\.)*"')


def ground() -> fm.Point:
    return fm.Model("m").ground.at()


def place() -> fm.Point:
    return fm.Body("b", mass=1.0, inertia=(1.0, 1.0, 1.0)).at()


# Everything that takes a vector, by what it is
TAKERS: dict[str, Callable[[object], object]] = {
    "gravity": lambda v: fm.Model("m", gravity=v),  # type: ignore[arg-type]
    "revolute's axis": lambda v: fm.Revolute("A", ground(), place(), axis=v),  # type: ignore[arg-type]
    "prismatic's axis": lambda v: fm.Prismatic("A", ground(), place(), axis=v),  # type: ignore[arg-type]
    "spherical's q0": lambda v: fm.Spherical("A", ground(), place(), q0=v),  # type: ignore[arg-type]
    "spherical's u0": lambda v: fm.Spherical("A", ground(), place(), u0=v),  # type: ignore[arg-type]
    "free's q0": lambda v: fm.Free("A", ground(), place(), q0=v),  # type: ignore[arg-type]
    "free's u0": lambda v: fm.Free("A", ground(), place(), u0=v),  # type: ignore[arg-type]
    "planar's q0": lambda v: fm.Planar("A", ground(), place(), q0=v),  # type: ignore[arg-type]
    "planar's stiffness": lambda v: fm.Planar("A", ground(), place(), stiffness=v),  # type: ignore[arg-type]
    "universal's axis": lambda v: fm.Universal("A", ground(), place(), axes=(v, "y")),  # type: ignore[arg-type]
    "turn's axis": lambda v: fm.Turn(v),  # type: ignore[arg-type]
    "load's force": lambda v: fm.Load("L", place(), force=v),  # type: ignore[arg-type]
    "com": lambda v: fm.Body("b", mass=1.0, com=v),  # type: ignore[arg-type]
    "box's size": lambda v: fm.Body.box("b", size=v, mass=1.0),  # type: ignore[arg-type]
    "translation": lambda v: fm.Transform(None, v),  # type: ignore[arg-type]
    "rotation's axis": lambda v: fm.Rotation.about(v, 0.1),  # type: ignore[arg-type]
    "column x": lambda v: fm.Rotation.columns(v, (0, 1, 0), (0, 0, 1)),  # type: ignore[arg-type]
    "column y": lambda v: fm.Rotation.columns((1, 0, 0), v, (0, 0, 1)),  # type: ignore[arg-type]
    "column z": lambda v: fm.Rotation.columns((1, 0, 0), (0, 1, 0), v),  # type: ignore[arg-type]
    "belt's radii": lambda v: fm.Coupling.belt(
        "G", fm.Revolute("A", ground(), place(), axis="x"), fm.Revolute("B", ground(), place(), axis="x"), radii=v
    ),  # type: ignore[arg-type]
    "correction": lambda v: compile(read_model("four_bar")).with_options(correction=v),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("what", TAKERS)
@pytest.mark.parametrize("wrong", [(1.0,), (1.0,) * 9, 3.0, object()])
def test_the_suggested_fix_is_accepted(what: str, wrong: object) -> None:
    with pytest.raises(fm.FmumbsError) as caught:
        TAKERS[what](wrong)
    if advice := ADVICE.search(str(caught.value)):
        TAKERS[what](tuple(float(number) for number in advice[1].split(",")))


def test_every_checked_argument_suggests_a_fix() -> None:
    silent = []
    for what, take in TAKERS.items():
        with pytest.raises(fm.FmumbsError) as caught:
            take((1.0,))
        if not ADVICE.search(str(caught.value)):
            silent.append(what)
    assert silent == []


CORE = Path(fm.__file__).parent / "core"


@pytest.mark.parametrize("path", sorted(CORE.rglob("*.[ci]*")), ids=lambda path: path.name)
def test_sentences_of_the_core_name_no_function_of_it(path: Path) -> None:
    """Its functions are called by Python and by the FMU, not by the reader of the sentence."""
    text = re.sub(r"/\*.*?\*/", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    sentences = [s for s in SENTENCE.findall(text) if " " in s]
    assert not [s for s in sentences if re.search(r"\bfm_\w+|\bfmu_\w+", s)]
    if not path.name.startswith("fmi2"):
        assert not [s for s in sentences if "fmi2" in s]
