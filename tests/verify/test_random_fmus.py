"""FMUs of random mechanisms under both schemes: no right one has findings.

FMPy's own validation is left out here: it takes longer than all the rest, and test_verify runs it on every mechanism
that ships.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings

import fmumbs as fm
import fmumbs.verify.verifying
from fmumbs.compiler import ModelImage, compile
from fmumbs.export import export_fmu
from fmumbs.readers import model_names
from fmumbs.verify.verifying import Finding, verify_fmu
from support.braked import chains
from support.closed import SPACE, coupled, plane, space
from support.elastic_models import elastic
from support.exported import image_of
from support.flexible_models import plane_loops, plane_tree, space_loop, space_tree
from support.planar_trees import planar_cases
from support.strategies import EVERY, Case, trees
from support.sweeps import first

RK4 = {"scheme": "rk4", "step": 1e-3}
LOOPS: dict[str, Callable[[], fm.Model]] = {
    "in a plane": lambda: plane(1, loops=2).model,
    "coupled": lambda: coupled(2, closed=True).model,
    "elastic joints": lambda: elastic(1),
    "flexible, in a plane": lambda: plane_loops(3).model,
    "flexible, a tree": lambda: plane_tree(4).model,
    "flexible, in space": lambda: space_loop(5).model,
    "flexible, a tree in space": lambda: space_tree(6).model,
    **{f"in space by {kind}": lambda k=kind: space(7, k).model for kind in SPACE[::3]},
}


@pytest.fixture(autouse=True, scope="module")
def without_fmpys_validation() -> Iterator[None]:
    patch = pytest.MonkeyPatch()
    patch.setattr(fmumbs.verify.verifying, "_validation", lambda path: iter(()))
    yield
    patch.undo()


def findings(model: fm.Model | ModelImage, **options: object) -> list[Finding]:
    with TemporaryDirectory() as folder:
        return verify_fmu(export_fmu(model, Path(folder) / "a.fmu", all_variables=True, **options))  # type: ignore[arg-type]


@given(trees(max_bodies=5, kinds=EVERY))
@settings(max_examples=6)
def test_random_trees_pass(case: Case) -> None:
    assert findings(case.model) == []
    assert findings(case.model, **RK4) == []


@given(planar_cases())
@settings(max_examples=3)
def test_random_trees_in_a_plane_pass(case: Case) -> None:
    assert findings(case.model, **RK4) == []


@given(chains())
@settings(max_examples=3)
def test_random_chains_with_brakes_pass(case: tuple[fm.Model, dict[str, float]]) -> None:
    assert findings(case[0]) == []


@pytest.mark.parametrize("which", LOOPS)
def test_random_loops_and_flexible_bodies_pass(which: str) -> None:
    model = LOOPS[which]()
    assert findings(model) == []
    assert findings(model, **RK4 | {"step": 2e-4}) == []


STIFF = ("cantilever", "crane", "flexible_four_bar", "governor", "spin_up_beam")
"""Frequencies or decay rates of 1e3 to 2e4 1/s: a Runge-Kutta scheme of 0.01 s is unstable there, as it says."""
SHORTER = {"braked_rotor": 1e-3}
"""Its bristles need that as soon as it is pressed."""
ALWAYS = ("cantilever", "governor", "braked_rotor", "double_pendulum", "heavy_top", "skate", "bricard", "four_bar")
"""Of every sort; the others are left to `make test-all`."""


@pytest.mark.parametrize("name", first(len(ALWAYS), [*ALWAYS, *(n for n in model_names() if n not in ALWAYS)]))
def test_every_mechanism_that_ships_passes_with_long_fixed_steps(name: str) -> None:
    image = image_of(name)
    if name in STIFF:
        with pytest.raises(fm.SolverError, match=r"too long|too small"):
            fm.simulate(image, scheme="rk4", step=0.01)
        return
    assert findings(image, scheme="rk4", step=SHORTER.get(name, 0.01)) == []


@pytest.mark.parametrize("stiffness", [1e3, 1e5, 1e7])
def test_fast_signals_pass(stiffness: float) -> None:
    """A rod on a stiff spring: it swings up to ten times in one communication interval."""
    model = fm.Model("steep")
    rod = fm.Body.rod("rod", length=1.0, mass=3.0)
    model.add(rod, fm.Revolute("A", model.ground.at(), rod.base, axis="y", q0=0.1, stiffness=stiffness))
    assert findings(compile(model)) == []
