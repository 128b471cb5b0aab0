"""What `fmumbs check` and `fmumbs info` tell, as plain dictionaries that print and that go into JSON."""

import os
import zipfile
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fmumbs.analysis import structure
from fmumbs.errors import AssemblyError, ModelError
from fmumbs.export.fmu import MOST_VARIABLES
from fmumbs.export.model_description import NATIVE, experiment_attributes
from fmumbs.export.verify import raise_if_unreadable

if TYPE_CHECKING:
    from fmumbs.compiler import ModelImage
    from fmumbs.mechanism import Model

Facts = dict[str, Any]


def check_model(model: "Model") -> Facts:
    """The structure of a mechanism, and whether it compiles.

    "problems" are sentences on what keeps it from being compiled, "warnings" on what is doubtful; each ends
    with a mend. "variables" is None where it does not compile.
    """
    from fmumbs.compiler import compile

    facts: Facts = asdict(structure(model))
    facts["problems"] = []
    facts["variables"] = None
    facts["redundant"] = 0
    warnings = list(facts["warnings"])
    try:
        image = compile(model)
    except ModelError as error:
        facts["problems"].append(str(error))
    else:
        facts["variables"] = len(image.variables)
        if facts["loops"]:
            _add_loops(facts, image)
        if len(image.variables) > MOST_VARIABLES:
            warnings.append(
                f"Model '{model.name}' has {len(image.variables)} variables, and an export stops beyond "
                f"{MOST_VARIABLES}. Name those you need with model.input(), model.output() and "
                "model.parameter()."
            )
    facts["warnings"] = warnings
    return facts


def _add_loops(facts: Facts, image: "ModelImage") -> None:
    """Mobility and redundant rows of a mechanism with loops, which only its start tells."""
    from fmumbs.run import Solver

    solver = Solver(image)
    try:
        solver.assemble()
    except AssemblyError as error:
        facts["problems"].append(str(error))
    else:
        facts["mobility"] = solver.mobility
        facts["redundant"] = solver.redundant_rows


def image_info(image: "ModelImage") -> Facts:
    """Variables, sizes and capabilities of what would be exported."""
    return {
        "name": image.name,
        "description": image.description,
        "guid": image.guid,
        "kind": "model",
        "bytes": {"image": len(image.bytes)},
        "experiment": {name: float(value) for name, value in experiment_attributes(image).items()},
        "capabilities": NATIVE.attributes(),
        "variables": [
            {
                "name": v.name,
                "causality": v.causality,
                "variability": v.variability,
                "type": v.type,
                "unit": v.unit,
                "start": None if v.initial == "calculated" else v.start,
                "description": v.description,
            }
            for v in image.variables
        ],
    }


def fmu_info(path: "str | os.PathLike[str]") -> Facts:
    """The same of an FMI 2.0 FMU, from its modelDescription.xml; "platforms" are those of its binaries.

    Raises ExportError where `path` is no FMU.
    """
    from lxml import etree

    path = Path(path)
    raise_if_unreadable(path)
    with zipfile.ZipFile(path) as archive:
        root = etree.fromstring(archive.read("modelDescription.xml"))
        sizes = {info.filename: info.file_size for info in archive.infolist()}
    simulation, experiment = root.find("CoSimulation"), root.find("DefaultExperiment")
    binaries = [name for name in sizes if name.startswith("binaries/")]
    return {
        "name": root.get("modelName", ""),
        "description": root.get("description", ""),
        "guid": root.get("guid", ""),
        "kind": "fmu",
        "tool": root.get("generationTool", ""),
        "platforms": sorted({name.split("/")[1] for name in binaries}),
        "bytes": {
            "fmu": path.stat().st_size,
            "binary": sum(sizes[name] for name in binaries),
            "image": sizes.get("resources/model.fmb", 0),
        },
        "experiment": {} if experiment is None else {k: float(v) for k, v in experiment.attrib.items()},
        "capabilities": {} if simulation is None else dict(simulation.attrib),
        "variables": [_scalar(variable) for variable in root.iterfind("ModelVariables/ScalarVariable")],
    }


def _scalar(variable: Any) -> Facts:
    value = variable[0]
    start = value.get("start")
    return {
        "name": variable.get("name"),
        "causality": variable.get("causality", "local"),
        "variability": variable.get("variability", "continuous"),
        "type": value.tag.lower(),
        "unit": value.get("unit", ""),
        "start": float(start) if start is not None and value.tag in ("Real", "Integer") else start,
        "description": variable.get("description", ""),
    }
