"""Everything that lists the schemes has each of them, with what the core's table says."""

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

import fmumbs as fm
from fmumbs.cli import main
from fmumbs.compiler.schemes import SCHEMES
from fmumbs.readers import read_model

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("page", ["tolerances.md", "formulation.md"])
def test_pages_list_each_scheme(page: str) -> None:
    listed = re.findall(r"^(?:\| |- )`(\w+)`(?: \||:)", (DOCS / page).read_text(encoding="utf-8"), re.MULTILINE)
    assert set(SCHEMES) <= set(listed)


def test_the_parameter_takes_and_describes_their_numbers() -> None:
    image = fm.compile(read_model("pendulum"))
    (parameter,) = [v for v in image.variables if v.name == "solver.scheme"]
    methods = ", ".join(f"{scheme.number} {scheme.method}" for scheme in SCHEMES.values())
    assert parameter.description == f"integration scheme: {methods}"
    assert [image.with_options(scheme=name) for name in SCHEMES] == [
        image.with_options(scheme=number) for number in range(len(SCHEMES))
    ]
    solver = fm.Solver(image)
    last = len(SCHEMES) - 1
    solver.set("solver.scheme", last)
    with pytest.raises(fm.SolverError, match=f"a whole number from 0 to {last}"):
        solver.set("solver.scheme", last + 1)


def test_help_has_the_purpose_of_each() -> None:
    text = " ".join(CliRunner().invoke(main, ["run", "--help"], terminal_width=500).output.split())
    for name, scheme in SCHEMES.items():
        assert f"{name}: {scheme.purpose}" in text


def test_fixed_steps_are_those_that_take_the_step() -> None:
    """A scheme without error control takes the steps that it is given, one with it does not look at them."""
    for name, scheme in SCHEMES.items():
        taken = []
        for step in (1e-2, 1e-3):
            solver = fm.Solver(fm.compile(read_model("pendulum")).with_options(scheme=name, step=step))
            solver.assemble()
            solver.step(0.1)
            taken.append(int(solver.get("solver.steps")))
        assert (taken == [10, 100]) is scheme.fixed, name
        assert (taken[0] == taken[1]) is not scheme.fixed, name
