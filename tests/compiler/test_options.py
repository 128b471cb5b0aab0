"""Options of a run: declared in one place, and taken by each function that offers them."""

import inspect
from typing import Any, get_args

import pytest

import fmumbs as fm
from fmumbs.cli.commands import main
from fmumbs.compiler.options import (
    CORRECTIONS,
    DYNAMICS,
    OPTIONS,
    PROGRAMS,
    Correction,
    Dynamics,
    ProgramsAtRest,
    RunOptions,
    SchemeName,
    settings_of,
)
from fmumbs.compiler.schemes import SCHEMES
from fmumbs.mechanism.path_laws import RISES, RiseLaw
from fmumbs.readers import read_model
from fmumbs.run.signal import INTERPOLATIONS, Interpolation

TAKERS = (fm.simulate, fm.export_fmu, fm.Solver, fm.compile, fm.ModelImage.with_options, fm.sweep)
VALUES: RunOptions = {
    "scheme": "radau", "step": 1e-2, "tolerance": 1e-5, "correction": (3.0, 4.0), "closure": 1e-9, "equilibrium": False,
    "locked": None, "programs": "held", "dynamics": "copcod", "deformation": 0.1,
}  # fmt: skip


@pytest.mark.parametrize("taker", TAKERS, ids=lambda one: one.__qualname__)
@pytest.mark.parametrize("name", OPTIONS)
def test_whatever_takes_options_shows_and_describes_each(taker: Any, name: str) -> None:
    assert inspect.signature(taker).parameters[name].default is None
    assert f"\n{name}: {OPTIONS[name].help.split()[0]}" in (inspect.getdoc(taker) or "")


def test_every_option_has_a_value_here() -> None:
    assert set(VALUES) == set(OPTIONS)


def test_a_compilation_with_options_is_the_image_with_them() -> None:
    model = read_model("four_bar")
    image = fm.compile(model, everything=True).with_options(**VALUES)
    assert fm.compile(model, everything=True, **VALUES) == image
    assert fm.Solver(model, **VALUES).image == image
    assert image != fm.compile(model, everything=True)


def test_none_keeps_an_option() -> None:
    image = fm.compile(read_model("four_bar"), **VALUES)
    assert image.with_options(**dict.fromkeys(OPTIONS)) is image  # type: ignore[arg-type]


def test_an_unknown_option_is_refused_with_the_nearest() -> None:
    with pytest.raises(fm.ModelError, match=r"no option 'tolerence'. The nearest name is 'tolerance'"):
        fm.simulate(read_model("pendulum"), tolerence=1e-6)  # type: ignore[call-arg]


def test_an_fmu_takes_the_numbers_that_the_image_has() -> None:
    solver = fm.Solver(read_model("four_bar"), **VALUES)
    for name, numbers in settings_of("here", VALUES).items():
        if name not in ("dynamics", "solver.deformation"):  # the FMU keeps it; no body bends
            assert solver.read(solver.references(name)).tolist() == list(numbers), name


@pytest.mark.parametrize(
    ("alias", "words"),
    [(SchemeName, SCHEMES), (Correction, CORRECTIONS), (ProgramsAtRest, PROGRAMS), (Dynamics, DYNAMICS),
     (RiseLaw, RISES), (Interpolation, INTERPOLATIONS)],
    ids=("scheme", "correction", "programs", "dynamics", "law", "interpolation"),
)  # fmt: skip
def test_type_checkers_know_the_words_of_the_tables(alias: Any, words: Any) -> None:
    assert set(get_args(alias)) == set(words)


def test_a_model_simulates_itself_with_the_same_arguments() -> None:
    model = read_model("pendulum")
    own, of_all = (list(inspect.signature(one).parameters.values())[1:] for one in (fm.Model.simulate, fm.simulate))
    assert own == of_all
    one, other = (run(stop=0.5, inputs={"A.q": 0.2}, scheme="rk4", step=1e-2) for run in (
        model.simulate, lambda **how: fm.simulate(model, **how)))  # fmt: skip
    assert one.names == other.names and all((one[name] == other[name]).all() for name in one.names)


def test_the_command_line_has_each() -> None:
    known = {option.name for option in main.commands["run"].params}
    assert known >= set(OPTIONS)
