"""An FMU declares which components of its reactions are unique, as Boolean constants and in its descriptions."""

from pathlib import Path
from typing import Any

import fmpy
import numpy as np
import pytest
from fmpy.fmi2 import FMU2Slave

import fmumbs as fm
from fmumbs.compiler import ModelImage, compile
from fmumbs.compiler.layout import pack
from fmumbs.export import export_fmu
from fmumbs.readers import read_model
from fmumbs.verify.verifying import verify_fmu

PLANAR = [True, False, True]  # forces of a loop in the plane x-z


@pytest.fixture(scope="module", params=["native", "pythonfmu"])
def four_bar(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("reactions")
    return export_fmu(read_model("four_bar"), folder / "four_bar.fmu", backend=request.param)


def variables(path: Path) -> dict[str, Any]:
    return {v.name: v for v in fmpy.read_model_description(str(path), validate=True).modelVariables}


def test_the_description_has_constants_for_every_joint(four_bar: Path) -> None:
    found = variables(four_bar)
    for joint in "ABCD":
        for what, expected in (("f", PLANAR), ("t", [not one for one in PLANAR])):
            of_it = [found[f"{joint}.reaction_unique.{what}[{i}]"] for i in (1, 2, 3)]
            assert [v.start == "true" for v in of_it] == expected
            assert {(v.type, v.causality, v.variability, v.initial) for v in of_it} == {
                ("Boolean", "local", "constant", "exact")
            }


def test_every_reactions_description_has_whether_it_is_unique(four_bar: Path) -> None:
    found = variables(four_bar)
    for i, unique in enumerate(PLANAR, 1):
        description = found[f"C.reaction.f[{i}]"].description
        assert description.endswith("; unique" if unique else "; not unique: of all balancing reactions the smallest")


def test_the_getters_return_the_constants(four_bar: Path, tmp_path: Path) -> None:
    found = variables(four_bar)
    fmu = running(four_bar, tmp_path)
    names = [f"{joint}.reaction_unique.f[{i}]" for joint in "ABCD" for i in (1, 2, 3)]
    references = [found[name].valueReference for name in names]
    assert [bool(one) for one in fmu.getBoolean(references)] == PLANAR * 4
    with pytest.raises(fmpy.fmi1.FMICallException):
        fmu.getReal(references[:1])
    with pytest.raises(fmpy.fmi1.FMICallException):
        fmu.setBoolean(references[:1], [False])
    fmu.doStep(0.0, 0.1)
    assert [bool(one) for one in fmu.getBoolean(references[:3])] == PLANAR
    fmu.terminate()
    fmu.freeInstance()


def running(path: Path, folder: Path) -> FMU2Slave:
    description = fmpy.read_model_description(str(path))
    fmpy.extract(str(path), str(folder))
    fmu = FMU2Slave(
        guid=description.guid, unzipDirectory=str(folder), modelIdentifier=description.coSimulation.modelIdentifier,
        instanceName="one",
    )  # fmt: skip
    fmu.instantiate()
    fmu.setupExperiment(startTime=0.0)
    fmu.enterInitializationMode()
    fmu.exitInitializationMode()
    return fmu


def test_the_fmu_verifies(four_bar: Path) -> None:
    assert verify_fmu(four_bar, read_model("four_bar")) == []


def test_the_solver_has_the_same_constants() -> None:
    solver = fm.Solver(read_model("parallelogram_pendulum"))
    for joint in "ACEG":
        assert solver.get(f"{joint}.reaction_unique.f").tolist() == [0, 0, 0]
        assert solver.get(f"{joint}.reaction_unique.t").tolist() == [1, 1, 1]
    for joint in "KLMNPQR":
        assert solver.get(f"{joint}.reaction_unique.f").tolist() == [1, 1, 1]
    with pytest.raises(fm.SolverError, match="cannot be set"):
        solver.set("A.reaction_unique.f[1]", 1.0)


def test_in_a_tree_every_reaction_is_unique() -> None:
    image = compile(read_model("arm6"))
    assert (image.arrays["joint_unique"] == 1).all()
    assert {v.start for v in image.variables if v.type == "boolean"} == {1.0}


def test_if_the_loops_do_not_close_no_reaction_is_claimed_unique() -> None:
    image = compile(read_model("four_bar", {"coupler": 5.0}))
    assert (image.arrays["joint_unique"] == 2).all()
    assert {v.start for v in image.variables if v.type == "boolean"} == {0.0}
    (force,) = [v for v in image.variables if v.name == "A.reaction.f[1]"]
    assert force.description.endswith("unknown, as assembly failed")


def test_a_declared_constant_has_a_name_of_its_own() -> None:
    model = read_model("four_bar")
    model.output("load", of="C.reaction.f")
    model.output("trust", of="C.reaction_unique.f")
    image = compile(model)
    starts = {v.name: (v.causality, v.start) for v in image.variables}
    assert [starts[f"trust[{i}]"] for i in (1, 2, 3)] == [("local", float(one)) for one in PLANAR]


@pytest.mark.parametrize("value", [-1, 3, 2**31 - 1])
def test_an_image_with_another_verdict_is_refused(value: int) -> None:
    image = compile(read_model("four_bar"))
    unique = np.array(image.arrays["joint_unique"])
    unique[2, 5] = value
    with pytest.raises(fm.ModelError, match="a reaction's uniqueness is impossible"):
        ModelImage(pack(image.sizes, image.arrays | {"joint_unique": unique}))
