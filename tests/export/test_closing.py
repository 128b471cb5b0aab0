"""FMUs of mechanisms with couplings and with joints that close loops: they pass, and report why they cannot start."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import fmumbs as fm
from fmumbs.errors import FmumbsError
from fmumbs.export import export_fmu
from fmumbs.play.fmu import Fmu
from fmumbs.readers import read_model
from fmumbs.verify.verifying import verify_fmu
from support.closed import coupled, space
from support.sweeps import first


def geared() -> fm.Model:
    """A four-bar whose cut joint has a spring, a damper and an input, and whose rocker drives a rack."""
    near = read_model("four_bar")
    model = fm.Model("geared", gravity=(0, 0, -9.81))
    C = replace(near["C"], cut=True, stiffness=0.4, damping=0.02, rest=0.3)
    rack = fm.Body("rack", mass=0.2)
    P = fm.Prismatic("P", model.ground.at(0.3, 0, 0.1), rack.at(), axis="x")
    model.add(*near.bodies, rack, *(near[name] for name in "ABD"), C, P)
    model.add(fm.Coupling.rack("G", near["D"], P, radius=0.05))
    return model


@pytest.mark.parametrize("make", first(3, [
    geared, lambda: coupled(1100, closed=True).model, lambda: space(152, "between", driven=True).model,
    lambda: coupled(900).model, lambda: space(150, "screw", driven=True).model,
    lambda: space(151, "spherical", driven=True).model,
]))  # fmt: skip
def test_it_passes(make: Callable[[], fm.Model], tmp_path: Path) -> None:
    model = make()
    assert verify_fmu(export_fmu(model, tmp_path / "closed.fmu"), model) == []


def test_the_pythonfmu_back_end_passes_too(tmp_path: Path) -> None:
    assert verify_fmu(export_fmu(geared(), tmp_path / "geared.fmu", backend="pythonfmu"), geared()) == []


def test_options_become_parameters(tmp_path: Path) -> None:
    path = export_fmu(geared(), tmp_path / "geared.fmu", correction=(12.0, 13.0), closure=1e-10)
    with Fmu(path) as fmu:
        starts = {name: v.start for name, v in fmu.variables.items() if name.startswith("solver.")}
    assert [float(starts[f"solver.{name}"]) for name in ("correction", "closure", "baumgarte[1]", "baumgarte[2]")] == [
        1.0, 1e-10, 12.0, 13.0,
    ]  # fmt: skip
    assert verify_fmu(path) == []


def refused(model: fm.Model, place: Path, settings: dict[str, float] | None = None) -> str:
    """The FMU's message when it is initialised."""
    from fmumbs import play

    with pytest.raises(FmumbsError) as caught:
        play.run_fmu(export_fmu(model, place / "refused.fmu"), play.Options(stop=0.1), settings)
    return str(caught.value)


def test_an_fmu_names_the_loop_that_cannot_close(tmp_path: Path) -> None:
    message = refused(read_model("four_bar", {"base": 0.7}), tmp_path)
    assert "the loop C-D-B-A cannot close: nearest gap 0.12 m at 'C'" in message
    assert "move a q0" in message


def test_an_fmu_names_the_coupling_that_cannot_hold(tmp_path: Path) -> None:
    model = fm.Model("two")
    bodies = [fm.Body(f"w{i}", mass=1.0, inertia=np.eye(3)) for i in range(2)]
    joints = [fm.Revolute(f"J{i}", model.ground.at(i, 0, 0), b.at(), held=True) for i, b in enumerate(bodies)]
    model.add(*bodies, *joints, fm.Coupling.gear("G", *joints, ratio=2.0))
    message = refused(model, tmp_path, {"J0.q": 0.3})
    assert "the coupling G of J0-J1 cannot close" in message
    assert "hold fewer" in message
