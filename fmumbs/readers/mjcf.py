"""Robots in MJCF, from the model that MuJoCo compiles."""

from __future__ import annotations

import os
from collections.abc import Sequence

from fmumbs import _checks
from fmumbs.mechanism import Model
from fmumbs.readers.choices import LimitsAs, Massless, add_stops, check_choices
from fmumbs.readers.compiled_mjcf import compiled
from fmumbs.readers.mjcf_bodies import Mjcf
from fmumbs.readers.mjcf_elements import add_elements, leave_out
from fmumbs.readers.robots import Report, build, finished


def read_mjcf(
    path: str | os.PathLike[str],
    limits: LimitsAs = "data",
    stop_stiffness: float | None = None,
    *,
    folders: Sequence[str | os.PathLike[str]] = (),
    massless: Massless = "refuse",
    meshes: bool = True,
) -> Model:
    """Reads a robot from an MJCF file, as MuJoCo compiles it: `fm.read_mjcf("ant.xml")`, with the extra fmumbs[mjcf].

    path: the file, .xml. limits, stop_stiffness, massless, meshes: as for read_urdf().
    folders: more of which files may be read, beside the package that the file is in, or the second folder above it.

    Hinges become fm.Revolute, slides fm.Prismatic, balls fm.Spherical, free joints fm.Free, several joints of a body
    one fm.Joint, with springs, damping, armature (rotor_inertia) and frictionloss (fm.Law.brake). Bodies without a
    joint are parts of the body that carries them; sites are named points. Positions are MuJoCo's qpos, and start at the
    file's. Equalities of joints, if they are linear, become fm.Coupling; connect and weld close loops, exactly and not
    softly. Motors and servos act by the inputs of joints: `model.reading.controls` has the factor from each command to
    its input; the gains of a servo are stiffness and damping of the joint, and its input is gain times target.

    `model.reading` tells what was left out: tendons, muscles, contact, sensors. Raises ModelError for what MuJoCo does
    not compile, and for files outside of the folders.
    """
    check_choices(limits, stop_stiffness, massless)
    file = _checks.path(path, "read_mjcf: path")
    compiled_model, told = compiled(file, folders)
    report = Report(os.fspath(path))
    for text in told:
        report.row("changed", "the file", f"MuJoCo warns: {text}")
    reader = Mjcf(compiled_model, report, meshes)
    name = file.stem if reader.model_name in ("", "MuJoCo Model") else reader.model_name
    links, connections = reader.links(), reader.connections()
    built = build(name, links, connections, report, False, massless == "fix", reader.gravity())
    reader.name_coordinates(built)
    add_elements(reader, built, report)
    if limits == "stop":
        add_stops(built, report, float(stop_stiffness or 0.0))
    leave_out(reader, report)
    return finished(built, report)
