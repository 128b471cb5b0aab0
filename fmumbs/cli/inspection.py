"""The facts that `fmumbs check` and `fmumbs info` print, as dictionaries that can be written as JSON."""

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fmumbs.analysis.structure import structure
from fmumbs.errors import AssemblyError, ModelError
from fmumbs.export.description_parts import experiment_attributes
from fmumbs.export.fmi2 import capability_attributes
from fmumbs.export.fmu import MOST_VARIABLES
from fmumbs.export.model_description import KINDS, NATIVE, experiment_of, model_description
from fmumbs.export.terminals import PLACE as TERMINALS
from fmumbs.finite_elements.mode_table import HEADINGS, ModeRow, cells
from fmumbs.play.fmu import IMAGE
from fmumbs.play.unpacking import open_archive, scalars, start_of

if TYPE_CHECKING:
    from fmumbs.analysis.tools import ToolName
    from fmumbs.analysis.uniqueness import JointReaction, Uniqueness
    from fmumbs.compiler import ModelImage
    from fmumbs.mechanism import Model
    from fmumbs.run import Solver

Facts = dict[str, Any]


def check_model(
    model: "Model", set_of: Sequence[str] = (), tool: "ToolName | None" = None, *, statics: bool = False
) -> Facts:
    """The structure of a mechanism, whether it compiles, and which of its reactions are unique.

    set_of: joints whose reactions are examined together. tool: also examine them by divide and conquer, with this
    numerical tool. statics: also look for a static equilibrium.

    Returns the counts and the spanning tree, and:
    problems, warnings: sentences on errors and on doubtful input, each with a fix.
    start_changes: given start values that the loops change.
    variables: their number; None if the model does not compile.
    joints: the verdict on each joint's reaction; empty if the loops do not close.
    reading: what a reader took, changed and left out (Reading); None for a model in Python.
    equilibrium: with statics, the positions, the verdict on their stability, the growth [1/s] of the motion that
        departs fastest, the angular frequencies [rad/s], and their squares by real and imaginary parts with errors
        [1/s2]; None where there is none, which a warning explains.

    Raises ModelError if a joint in set_of does not exist.
    """
    from fmumbs.compiler import compile

    facts = _of_structure(model)
    warnings = list(facts["warnings"])
    try:
        image = compile(model)
    except ModelError as error:
        facts["problems"].append(str(error))
    else:
        facts["variables"] = len(image.variables)
        _add_reactions(facts, warnings, model, set_of)
        _add_start(facts, warnings, model)
        if tool is not None and facts["joints"]:
            facts["divide_and_conquer"] = _divided(model, set_of, tool)
        warnings += _too_many(model.name, len(image.variables))
        if statics:
            facts["equilibrium"] = _equilibrium(model, warnings)
    facts["warnings"] = warnings
    return facts


def _of_structure(model: "Model") -> Facts:
    """What is known before the model compiles."""
    facts: Facts = asdict(structure(model))
    facts["problems"] = []
    facts["variables"] = None
    facts["reading"] = None if model.reading is None else asdict(model.reading)
    facts |= {"rows": facts.pop("reactions"), "joint_count": facts["joints"]}
    return facts | {"rank": None, "redundant": 0, "joints": [], "start_changes": []}


def _too_many(model: str, variables: int) -> list[str]:
    if variables <= MOST_VARIABLES:
        return []
    return [
        f"Model '{model}' has {variables} variables, but an export has at most {MOST_VARIABLES}. Declare those you "
        "need with model.input(), model.output() and model.parameter()."
    ]


def _equilibrium(model: "Model", warnings: list[str]) -> Facts | None:
    from fmumbs.errors import EquilibriumError
    from fmumbs.run.equilibrium import equilibrium

    try:
        found = equilibrium(model)
    except (AssemblyError, EquilibriumError) as error:
        warnings.append(str(error))
        return None
    warnings += _deformed(model, found.solver, "in the equilibrium")
    return {
        "text": str(found),
        "stable": found.stable,
        "verdict": found.verdict,
        "growth": found.growth,
        "softest": found.softest,
        "method": found.method,
        "squares": [[complex(one).real, complex(one).imag] for one in found.squares],
        "errors": list(found.errors),
        "frequencies": found.frequencies.tolist(),
        "positions": found.starts,
    }


def _add_reactions(facts: Facts, warnings: list[str], model: "Model", set_of: Sequence[str]) -> None:
    """Adds rank, mobility and the verdict on every reaction, at the initial position."""
    from fmumbs.run.reactions import uniqueness

    try:
        found = uniqueness(model)
    except AssemblyError as error:
        facts["problems"].append(str(error))
        return
    facts |= {
        "rows": found.rows,
        "rank": found.rank,
        "redundant": found.redundant,
        "mobility": found.mobility,
        "gruebler": found.gruebler,
        "singular": found.singular,
        "rank_nearby": list(found.nearby),
        "singular_values": {"smallest_kept": found.gap.kept, "largest_dropped": found.gap.dropped},
        "joints": [_joint_facts(reaction) for reaction in found.joints if reaction.joint not in model.inner],
        "forces": [asdict(one) for one in found.forces if one.name not in model.inner],
        "fix": {
            "free": [{"joint": fix.joint, "directions": fix.text} for fix in found.fixes],
            "make_flexible": _with_links(model, found.flexible),
            "may_stay_rigid": _with_links(model, found.rigid),
        },
    }
    if set_of:
        facts["set"] = asdict(found.set_of(set_of))
    _warn_of_motion(facts, warnings, model, found)


def _warn_of_motion(facts: Facts, warnings: list[str], model: "Model", found: "Uniqueness") -> None:
    """Adds what is locked, singular, or a choice among several forces."""
    for one in found.forces:
        if not one.unique and one.name not in model.inner:
            warnings.append(
                f"The force of {one.kind} '{one.name}' is not unique: loops lock what it acts on, or another one holds "
                "the same motion, so that its value is a choice. Leave it out, or free a joint of the loop."
            )
    if found.mobility == 0 and not any(joint.excited_modes for joint in model.joints):
        warnings.append(f"Model '{model.name}' is locked: its mobility is 0. Free a joint of a loop.")
    if found.singular and (problem := _no_start(model)):
        facts["problems"].append(problem)
    elif found.singular:
        warnings.append(
            f"Model '{model.name}' starts at or near a singular position: {found.rank} of {found.rows} rows are "
            f"independent there, {', '.join(map(str, found.nearby)) or 'unknown'} nearby. Change a q0 by a few degrees."
        )


def _with_links(model: "Model", bodies: Sequence[str]) -> list[str]:
    """Names of bodies; for the elements of a flexible link, the link and what it would have to be given as well."""
    lacks: dict[str, str] = {}
    bodies = [body for body in bodies if body not in model.inner]
    for link in model.flexible_links:
        more = "plane=None" if link.plane is not None else "stretch=True"
        lacks |= {body.name: f"{link.name} ({more})" for body in link.bodies}
    return list(dict.fromkeys(lacks.get(name, name) for name in bodies))


def _add_start(facts: Facts, warnings: list[str], model: "Model") -> None:
    """Adds the given start values that the loops change."""
    from fmumbs.run import Solver
    from fmumbs.run.start import describe

    solver = Solver(model)
    with suppress(AssemblyError):  # already among the problems
        solver.assemble()
        warnings += _deformed(model, solver, "at the start")
        facts["start_changes"] = [asdict(change) for change in solver.start_changes]
        if facts["start_changes"]:
            warnings.append(describe(model.name, solver.start_changes))


def _deformed(model: "Model", solver: "Solver", when: str) -> list[str]:
    """Warnings of flexible bodies that a mode turns or strains beyond the linear range."""
    from fmumbs.mechanism import ModalBody

    bound, found = solver.get("solver.deformation") if _flexible(model) else 0.0, []
    for body in model.bodies:
        if not isinstance(body, ModalBody):
            continue
        sizes = np.abs(np.atleast_1d(solver.get(f"{body.name}.q"))) * np.array(body.strains)
        if float(sizes.max()) > bound:
            found.append(
                f"ModalBody '{body.name}' leaves the linear range {when}: its mode {int(sizes.argmax()) + 1} makes a "
                f"rotation or strain of {sizes.max():.3g}, and solver.deformation is {bound:g}. Make it a FlexibleLink."
            )
    return found


def _flexible(model: "Model") -> bool:
    from fmumbs.mechanism import ModalBody

    return any(isinstance(body, ModalBody) for body in model.bodies)


def _no_start(model: "Model") -> str:
    """Why assembly fails, "" if it does not."""
    from fmumbs.run import Solver

    try:
        Solver(model).assemble()
    except AssemblyError as error:
        return str(error)
    return ""


def _divided(model: "Model", set_of: Sequence[str], tool: "ToolName") -> Facts:
    """The verdict of divide and conquer, step by step, or why it cannot be used."""
    from fmumbs.run.reactions import divide_and_conquer

    try:
        found = divide_and_conquer(model, tool)
        verdict = found.set_of(set_of) if set_of else None
    except ModelError as error:
        return {"tool": tool, "reason": str(error)}
    names = {body.number: found.placed.bodies[body.number - 1] for body in found.assembled.leaves()}
    return {
        "tool": tool,
        "connections": [
            {"joints": [found.placed.joints[j] for j in one.joints], "rank": one.rank, "size": len(one.G)}
            for one in found.connections
        ],
        "unique": found.unique,
        "set": verdict and {"unique": verdict.unique, "components_unique": verdict.components_unique},
        "steps": [
            {
                "step": step.number,
                "title": step.title,
                "found": [
                    {"number": at, "body": names.get(at), "joint": joint, "unique": unique}
                    for at, joint, unique in step.found
                ],
            }
            for step in found.steps
        ],
    }


def _joint_facts(reaction: "JointReaction") -> Facts:
    return {
        "joint": reaction.joint,
        "unique": reaction.unique,
        "components_unique": list(reaction.components_unique),
        "indeterminate_dimension": reaction.indeterminate_dimension,
        "directions": [[float(v) for v in column] for column in reaction.directions.T],
        "length": reaction.length,
    }


def image_info(image: "ModelImage") -> Facts:
    """Variables, sizes and capabilities of the FMU that an export would write."""
    described = model_description(image, capabilities=replace(NATIVE, kinds=KINDS["cs+me"]))
    facts = {
        "name": image.name,
        "description": image.description,
        "guid": image.guid,
        "kind": "model",
        "bytes": {"image": len(image.bytes)},
        "experiment": {name: float(value) for name, value in experiment_attributes(experiment_of(image)).items()},
        "capabilities": capability_attributes(NATIVE),
        "variables": [
            {
                "name": v.name,
                "causality": v.causality,
                "variability": v.variability,
                "type": v.type,
                "unit": v.unit,
                "start": None if v.initial == "calculated" else v.start != 0.0 if v.type == "boolean" else v.start,
                "description": v.description,
            }
            for v in described.variables
        ],
        "terminals": {one.name: dict((one.position, one.effort)) for one in described.terminals},
        "modes": _modes(image),
    }
    return facts | {"solver": _solver(facts)}


def _modes(image: "ModelImage") -> Facts:
    """The rows of the table of modes, by flexible body."""
    return {body: [asdict(row) for row in rows] for body, rows in image.modes.items()}


def modes_info(facts: Facts) -> dict[str, tuple[tuple[str, ...], list[tuple[str, ...]]]]:
    """By flexible body the headings and the rows of its table of modes, from image_info() or fmu_info()."""
    tables = {body: tuple(ModeRow(**row) for row in rows) for body, rows in facts["modes"].items() if rows}
    return {body: (HEADINGS, cells(rows)) for body, rows in tables.items()}


def _solver(facts: Facts) -> Facts:
    """The formulation of the dynamics and the integration scheme by name; {} for an FMU that does not tell."""
    from fmumbs.compiler.options import DYNAMICS
    from fmumbs.compiler.schemes import SCHEMES

    starts = {v["name"]: v["start"] for v in facts["variables"]}
    known = (("dynamics", DYNAMICS), ("scheme", {name: scheme.number for name, scheme in SCHEMES.items()}))
    numbers = {
        what: (names, starts.get(f"solver.{what}", starts.get(f"solver_{what}"))) for what, names in known
    }  # the latter with flat names
    return {
        what: next((name for name, value in names.items() if value == number), str(number))
        for what, (names, number) in numbers.items()
        if number is not None
    }


def fmu_info(path: "str | os.PathLike[str]") -> Facts:
    """The same for an FMU, from its modelDescription.xml; "platforms" lists those of its binaries. Modes are those of
    its image, {} of one that another version has made.

    Raises ExportError if `path` is not an FMU.
    """
    path = Path(path)
    with open_archive(path) as archive:
        root, sizes = archive.description, archive.sizes
        terminals = archive.xml(TERMINALS) if TERMINALS in sizes else None
        modes: Facts = {}
        if IMAGE in sizes:
            from fmumbs.compiler import ModelImage

            with suppress(ModelError):  # an image of another version
                modes = _modes(ModelImage.load(archive.read(IMAGE)))
    kinds = [(name, root.find(tag)) for name, tag in (("cs", "CoSimulation"), ("me", "ModelExchange"))]
    simulation = next((found for _, found in kinds if found is not None), None)
    experiment = root.find("DefaultExperiment")
    binaries = [name for name in sizes if name.startswith("binaries/") and not name.endswith("/")]
    facts = {
        "name": root.get("modelName", ""),
        "description": root.get("description", ""),
        "guid": root.get("guid") or root.get("instantiationToken", ""),
        "fmi": root.get("fmiVersion", ""),
        "kind": "fmu",
        "kinds": [name for name, found in kinds if found is not None],
        "tool": root.get("generationTool", ""),
        "platforms": sorted({name.split("/")[1] for name in binaries}),
        "bytes": {
            "fmu": path.stat().st_size,
            "binary": sum(sizes[name] for name in binaries),
            "image": sizes.get(IMAGE, 0),
        },
        "experiment": {} if experiment is None else {k: float(v) for k, v in experiment.attrib.items()},
        "capabilities": {} if simulation is None else dict(simulation.attrib),
        "variables": [one for variable, kind, value in scalars(root) for one in _scalars(variable, kind, value)],
        "terminals": {} if terminals is None else _terminals(terminals),
        "modes": modes,
    }
    return facts | {"solver": _solver(facts)}


def _terminals(root: Any) -> Facts:
    """Names of variables by those of members, by terminal."""
    return {
        one.get("name", ""): {v.get("memberName"): v.get("variableName") for v in one.iter("TerminalMemberVariable")}
        for one in root.iterfind("Terminals/Terminal")
    }


def _scalars(variable: Any, kind: str, value: Any) -> Iterator[Facts]:
    """A variable, or the elements of a vector."""
    length = next((one.get("start") for one in variable.iterfind("Dimension")), None)
    starts = (value.get("start") or "").split()
    if length is None:
        yield _scalar(variable, kind, value, variable.get("name"), value.get("start"))
        return
    for i in range(int(length)):
        start = starts[i if i < len(starts) else 0] if starts else None
        yield _scalar(variable, kind, value, f"{variable.get('name')}[{i + 1}]", start)


def _scalar(variable: Any, kind: str, value: Any, name: str, start: str | None) -> Facts:
    return {
        "name": name,
        "causality": variable.get("causality", "local"),
        "variability": variable.get("variability", "continuous"),
        "type": kind.lower(),
        "unit": value.get("unit", ""),
        "start": start_of(kind, start),
        "description": variable.get("description", ""),
    }
