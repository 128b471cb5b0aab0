"""Start values of inputs, states and parameters that are part of the model, or given with an export."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fmumbs as fm
from fmumbs.compiler import compile
from fmumbs.play.simulation import Options, run_fmu
from fmumbs.readers import read_model


def driven(**options: Any) -> fm.Model:
    model = fm.Model("driven")
    rod, free = fm.Body.rod("rod", length=1.0, mass=1.0, radius=0.05), fm.Body.box("free", size=(1, 2, 3), mass=2.0)
    model.add(rod, fm.Revolute("A", model.ground.at(), rod.base, axis="y", **options))
    model.add(free, fm.Free("F", model.ground.at(5, 0, 0), free.at(), tau=(1, 2, 3, 4, 5, 6)))
    return model


def test_a_constant_drive_torque_is_part_of_the_model() -> None:
    here = fm.simulate(driven(tau=3.0), stop=0.5, outputs=["A.q"])
    there = fm.simulate(driven(), stop=0.5, outputs=["A.q"], inputs={"A.tau": 3.0})
    assert_allclose(here["A.q"], there["A.q"], rtol=0, atol=0)
    solver = fm.Solver(driven(tau=3.0))
    assert (solver.get("A.tau"), list(solver.get("F.f")), list(solver.get("F.tau"))) == (3.0, [1, 2, 3], [4, 5, 6])
    solver.set("A.tau", 0.0)
    solver.reset()
    assert solver.get("A.tau") == 3.0


def test_an_exported_fmu_moves_as_the_model_does(tmp_path: Path) -> None:
    model = driven(tau=3.0)
    model.input("torque", to="A.tau")
    model.input("push", to="F.f", start=(0.5, 0.25, 0.0))
    model.output("angle", of="A.q")
    model.output("place", of="F.r")
    result = run_fmu(fm.export_fmu(model, tmp_path / "driven.fmu"), Options(stop=0.5, interval=0.05))
    here = fm.simulate(model, stop=0.5, interval=0.05)
    for name in ("angle", "place[1]"):
        assert_allclose(result[name], here[name], rtol=0, atol=0)
    starts = {v.name: v.start for v in compile(model).variables}
    assert (starts["torque"], starts["push[1]"], starts["push[2]"]) == (3.0, 0.5, 0.25)


def test_each_load_and_each_spring_starts_with_its_own_values() -> None:
    model = driven()
    rod, free = model["rod"], model["free"]
    loads = [((1, 2, 3), (4, 5, 6)), ((-1, -2, -3), (-4, -5, -6)), ((0.1, 0.2, 0.3), (0.4, 0.5, 0.6))]
    springs = [(7.0, 0.8, 0.9), (10.0, 0.11, 0.12)]
    for i, (force, torque) in enumerate(loads):
        model.add(fm.Load(f"l{i}", free.at(i), force=force, torque=torque))
    for i, (stiffness, damping, length) in enumerate(springs):
        law = {"stiffness": stiffness, "damping": damping, "free_length": length}
        model.add(fm.Spring(f"s{i}", rod.at(0, 1, i), free.at(), **law))
    solver = fm.Solver(compile(model, everything=True))
    for i, (force, torque) in enumerate(loads):
        assert (tuple(solver.get(f"l{i}.force")), tuple(solver.get(f"l{i}.torque"))) == (force, torque)
    for i, values in enumerate(springs):
        assert tuple(solver.get(f"s{i}.{what}") for what in ("stiffness", "damping", "free_length")) == values


def test_the_torque_of_a_cut_joint_starts_too() -> None:
    near, model = read_model("four_bar"), fm.Model("four_bar")
    C = near["C"]
    model.add(*near.bodies, *(near[name] for name in "ABD"), fm.Revolute("C", C.F, C.M, axis="y", tau=0.2, cut=True))
    solver = fm.Solver(model)
    assert solver.get("C.tau") == 0.2
    solver.assemble()
    moved = solver.get("A.qdd")
    solver.set("C.tau", 0.0)
    assert abs(solver.get("A.qdd") - moved) > 1e-3


def test_an_export_takes_start_values(tmp_path: Path) -> None:
    starts = {"A.tau": 0.05, "A.q": -1.0, "A.qd": 3.0, "crank.mass": 0.4, "gravity": (0, 0, -1.6)}
    starts["solver.tolerance"] = 1e-8
    model = read_model("four_bar")
    result = run_fmu(fm.export_fmu(model, tmp_path / "four_bar.fmu", starts=starts), Options(stop=0.3, interval=0.05))
    here = fm.simulate(model, stop=0.3, interval=0.05, inputs=starts)
    for name in ("A.q", "D.qd", "C.q"):
        assert_allclose(result[name], here[name], rtol=0, atol=1e-9)
    assert result["A.q"][0] == -1.0


def rubbed() -> fm.Model:
    """Friction that inputs press and scale, laws that inputs scale."""
    model = driven()
    rod, pads = model["rod"], fm.LuGre(0.6, 0.4, stribeck=0.1, stiffness=1e3, damping=5.0, pressed=True, scaled=True)
    disc = fm.Body.box("disc", size=(1, 1, 0.1), mass=1.0)
    B = fm.Revolute("B", rod.tip, disc.at(), axis="y", friction=pads)
    model.add(disc, B, *(fm.Law.brake(name, on, 1.0, scaled=True) for name, on in (("one", model["A"]), ("other", B))))
    return model


SHIPPED = ["double_pendulum", "heavy_top", "gantry", "skate", "trough", "four_link_flexible", "cardan_shaft"]


OWN: dict[str, Callable[[], fm.Model]] = {"a flying body": driven, "friction and laws": rubbed}


@pytest.mark.parametrize("name", [*SHIPPED, *OWN])
def test_an_export_takes_every_start_value(name: str) -> None:
    """Each goes to its own variable, and to no other."""
    model, rng = OWN[name]() if name in OWN else read_model(name), np.random.default_rng(3)
    before = {v.name: v.start for v in compile(model, everything=True).variables}
    for variable in compile(model, everything=True).variables:
        options = variable.name.startswith("solver.")
        if variable.start is None or variable.type != "real" or options or variable.causality == "local":
            continue
        value = abs(float(before[variable.name])) + rng.uniform(0.01, 0.02)
        if ".inertia[" in variable.name:  # a change that leaves a solid
            body = variable.name.partition(".")[0]
            moments = max(float(before[f"{body}.inertia[{i}]"]) for i in (1, 2, 3))
            value = float(before[variable.name]) + 1e-10 * moments
            if moments == 0.0:
                continue
        image = compile(model, everything=True, starts={variable.name: value})
        after = {v.name: v.start for v in image.variables}
        changed = {key for key in after if after[key] != before[key]}
        assert changed == {variable.name} and after[variable.name] == value


@pytest.mark.parametrize(
    ("starts", "message"),
    [({"A.qq": 1.0}, "nearest name is 'A.q"), ({"A.qdd": 1.0}, "it is computed"), ({"crank.mass": -1.0}, "at least 0"),
     ({"crank.inertia": (1, 1, 3, 0, 0, 0)}, "no solid"),
     ({"gravity": 1.0}, "must have 3"), ({"A.q": float("nan")}, "finite"), ({"C.q": 1.0}, "it is computed")],
)  # fmt: skip
def test_wrong_starts_are_refused(starts: dict[str, Any], message: str) -> None:
    with pytest.raises(fm.ModelError, match=message):
        compile(read_model("four_bar"), everything=True, starts=starts)


def test_wrong_torques_are_refused() -> None:
    body = fm.Body("b", mass=1.0, inertia=(1, 1, 1))
    ground = fm.Model("m").ground
    with pytest.raises(fm.ModelError, match="tau is 1, but a Weld has no degree of freedom"):
        fm.Weld("W", ground.at(), body.at(), tau=1.0)
    with pytest.raises(fm.ModelError, match="must have 3"):
        fm.Spherical("S", ground.at(), body.at(), tau=(1.0, 2.0))
    model = driven()
    model.input("push", to="F.f", start=(1.0, 2.0))
    with pytest.raises(fm.ModelError, match=r"must have 3"):
        compile(model)


def test_the_input_of_a_filtered_mode_starts_at_its_position() -> None:
    def build(**options: Any) -> fm.Model:
        model, body = fm.Model("filter"), fm.Body("b", mass=1.0, inertia=(1, 1, 1))
        mode = fm.Turn("y", role="excited", input="eta", cutoff=10.0, eta0=0.4)
        model.add(body, fm.Joint("A", model.ground.at(), body.at(), modes=[mode]))
        model.input("goal", to="A.eta_in", **options)
        return model

    assert fm.Solver(build()).get("A.eta_in") == 0.4
    assert fm.Solver(build(start=0.7)).get("A.eta_in") == 0.7


@pytest.mark.parametrize("given", [{"J.eta": 0.3}, {"J.eta": 0.3, "J.eta_in": 0.7}, {"J.eta_in": 0.7, "J.eta": 0.3}])
def test_a_filtered_mode_rests_at_a_given_start(given: dict[str, float]) -> None:
    """Unless its input starts elsewhere, in either order of the two."""
    model = fm.Model("followed")
    arm = fm.Body.rod("arm", length=1.0, mass=1.0, radius=0.05)
    turn = fm.Turn("y", role="excited", input="eta", cutoff=5.0)
    model.add(arm, fm.Joint("J", model.ground.at(), arm.base, modes=[turn]))
    solver = fm.Solver(compile(model, starts=given))
    assert (solver.get("J.eta"), solver.get("J.eta_in")) == (0.3, given.get("J.eta_in", 0.3))
    solver.assemble()
    solver.step(1.0)
    assert (abs(solver.get("J.eta") - 0.3) > 0.1) == ("J.eta_in" in given)
