"""Writes an FMU: a zip of a prebuilt binary, the model image, and their description (FMI 2.0.4, 2.3; FMI 3.0.2, 2.5).

    documentation/licenses/              of fmumbs, and of the headers of FMI in sources/
    modelDescription.xml                 from the image's variable table
    model.png                            the mechanism at its start
    terminalsAndIcons/terminalsAndIcons.xml  the flanges of its joints, if there are any
    binaries/<platform>/<name>.so        the core and the FMI functions, as built with the package
    resources/model.fmb                  the image
    documentation/index.html             the variables, their units and meanings
    documentation/scene.html             the mechanism in motion, on request
    sources/<name>.c                     the image as an array, and the core in C99

In FMI 3.0 the picture is terminalsAndIcons/icon.png, the folders of binaries have other names, and
sources/buildDescription.xml names the file to compile.

These are the files of a native FMU; for the other backend see pythonfmu.py. Nothing is compiled. The same image gives
the same bytes: entries have a fixed order and one date, SOURCE_DATE_EPOCH if that is set. The file is written
atomically.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

import numpy as np

from fmumbs import _checks
from fmumbs._files import whole
from fmumbs._naming import STRUCTURED
from fmumbs.compiler import ModelImage, image_of
from fmumbs.compiler.independent import STATES, with_independent_states
from fmumbs.compiler.inverse import asks_for_inverse, inverse_image
from fmumbs.compiler.layout import pack
from fmumbs.compiler.options import RunOptions, given, takes_options
from fmumbs.errors import ExportError, StartWarning
from fmumbs.export import installed
from fmumbs.export.archive import OLDEST, Contents, Date, zip_archive
from fmumbs.export.documentation import INVERSE as OF_INVERSE
from fmumbs.export.documentation import NATIVE as OF_DYNAMICS
from fmumbs.export.documentation import NATIVE3 as OF_DYNAMICS3
from fmumbs.export.documentation import documentation
from fmumbs.export.fmi2 import fmi2_xml
from fmumbs.export.fmi3 import PLATFORMS, build_description, fmi3_xml
from fmumbs.export.model_description import (
    INVERSE,
    KINDS,
    MODEL_EXCHANGE,
    NATIVE,
    model_description,
    model_identifier,
    source_date,
)
from fmumbs.export.naming import named
from fmumbs.export.picture import icon
from fmumbs.export.pythonfmu import pythonfmu_entries
from fmumbs.export.realtime import fixed_scheme
from fmumbs.export.realtime import section as realtime_section
from fmumbs.export.sources import source, source_name
from fmumbs.export.terminals import PLACE as TERMINALS
from fmumbs.export.terminals import terminals_xml

if TYPE_CHECKING:
    from fmumbs.mechanism import Model

MOST_VARIABLES = 2000

Entries = Iterator[tuple[str, Contents]]


@takes_options
def export_fmu(
    model: Model | ModelImage,
    path: str | os.PathLike[str],
    *,
    fmi: int = 2,
    kind: str | None = None,
    backend: str = "native",
    starts: Mapping[str, float | Sequence[float]] | None = None,
    platforms: Sequence[str] | None = None,
    naming: str = STRUCTURED,
    all_variables: bool = False,
    scene: bool = False,
    inverse: bool = False,
    actuated: Sequence[str] | None = None,
    arrays: bool = False,
    states: str = "tree",
    realtime: bool = False,
    **options: Unpack[RunOptions],
) -> Path:
    """Writes `model` as an FMU to `path`; returns the path of the file.

    path: the file; or a folder, if it ends with a separator, for a file named after the model. Folders are created.
    fmi: the version of FMI, 2 or 3. One of 3.0 shows each integration step to the importer and can end a step early.
    kind: "cs", an FMU for Co-Simulation, which has its own integrator, "me", one for Model Exchange, which the
        importer's solver or optimiser integrates, or "cs+me", both. None: both, or "cs" by the backend "pythonfmu",
        which has no other.
    backend: "native", an FMU without dependencies, or "pythonfmu", one that runs in the host's Python.
    starts: other start values by names of inputs, states and parameters, such as {"A.tau": 0.05, "A.q": 0.3}; only for
        a Model.
    platforms: whose binaries the FMU carries, such as ["linux64", "win64"]; "linux64=aarch64-linux" puts the one for
        aarch64-linux into the folder linux64, where importers on ARM look that do not know its name. None: all that
        this installation has.
    naming: "structured", names such as "S.w[2]", or "flat", such as "S_w_2", for tools that make buses of the former.
        Only the FMU's variables have flat names; the options here take structured ones.
    all_variables: allows more than MOST_VARIABLES.
    scene: adds documentation/scene.html, the page of Model.view(), with the motion of the default experiment, for which
        the mechanism is simulated.
    inverse: an FMU of inverse dynamics, such as for feed-forward: inputs are the positions, velocities and
        accelerations of all joints of the tree ("A.q", "A.qd", "A.qdd"), outputs the forces that the motion takes
        ("A.tau"), reactions and all else. It has no states and all variables; the numbers are those of
        fm.inverse_dynamics(), bit for bit.
    actuated: with inverse, the inputs that exert these forces, such as ["A.tau"], as many as the mechanism has degrees
        of freedom; required in loops. The other inputs of forces remain. A motion that opens the loops is refused by
        the step; at the start the mechanism is assembled and at rest.
    arrays: with fmi=3, vectors are array variables: "J.reaction.f" with three values in place of "J.reaction.f[1]" to
        "[3]", the quaternion of a body with four. Those of joints' modes, such as "U.tau[2]", stay scalars, since their
        units differ, and so do states and their rates.
    states: of loops in Model Exchange, "tree", positions and velocities of all joints of the tree, or "independent", as
        many of these as the mechanism has degrees of freedom, chosen where it starts; declared ones if they can be. The
        others follow from the loops, which are exactly closed. Where independent states become singular, as a rocker's
        angle at its dead centre, the FMU says so by fmi2Discard. Of a tree both are the same.
    realtime: an FMU for Co-Simulation with fixed steps, for real-time computers: by scheme, or rk4, of at most `step`.
        The default experiment runs with the inputs' start values, and the documentation says what its mean and its
        worst step took, what bounds that, and what bounds each iteration. A mechanism with an iteration
        without a useful bound is refused.
    {options}

    Options become start values of the FMU's parameters solver.scheme, solver.step, solver.tolerance and so on: the FMU
    searches the equilibrium with the parameters and inputs that the importer sets. dynamics and locked are fixed in it.

    Warns with a StartWarning of an equilibrium that is unstable.

    Raises EquilibriumError if there is none, ModelError for a model that cannot be compiled, ExportError for an unknown
    backend or naming, too many variables, a platform without a binary in this installation, or a file that cannot be
    written. An existing file at `path` is then unchanged.
    """
    if not isinstance(backend, str) or backend not in BACKENDS:
        raise ExportError(f"backend '{backend}' is unknown. Choose one of: {', '.join(BACKENDS)}.")
    inverse = _checks.flag(inverse, "inverse")
    if actuated is not None and not inverse:
        raise ExportError("actuated is for an FMU of inverse dynamics. Give inverse=True too, or leave it out.")
    if not isinstance(states, str) or states not in STATES:
        raise ExportError(f"states '{states}' is unknown. Choose one of: {', '.join(STATES)}.")
    fmi = _fmi(fmi, backend)
    arrays = _arrays(arrays, fmi, naming)
    all_variables, scene = _checks.flag(all_variables, "all_variables"), _checks.flag(scene, "scene")
    realtime = _checks.flag(realtime, "realtime")
    kind = kind if kind is not None else "cs" if backend == "pythonfmu" or inverse or realtime else "cs+me"
    if not isinstance(kind, str) or kind not in KINDS:
        raise ExportError(f"kind '{kind}' is unknown. Choose one of: {', '.join(KINDS)}.")
    if isinstance(model, ModelImage) and starts:
        raise ExportError("starts cannot be given with a ModelImage, which has its own. Give its Model.")
    if realtime:
        options = _for_real_time(backend, kind, inverse, options)
    if inverse:
        _check_inverse(backend, kind, scene, options)
    image = image_of(model, starts=starts, everything=inverse, **options)
    if inverse:
        image = _inverse(image, actuated)
    elif image.equilibrium:
        _check_equilibrium(image)
    if states == "independent":
        _check_exchanged(kind)
        image = with_independent_states(image)
    _check_count(image, all_variables)
    _checks.path(path, "path")
    place = os.fspath(path)
    target = Path(place, f"{image.name}.fmu") if place.endswith(os.sep) else Path(place)
    sections = (realtime_section(image),) if realtime else ()
    entries = BACKENDS[backend](image, platforms, naming, scene, kind, fmi, arrays, sections)
    write(target, zip_archive(chain(entries, _scene(image)) if scene else entries, _date()))
    return target


def _fmi(fmi: int, backend: str) -> int:
    """The version. Raises ExportError for one that there is not, or not by this backend."""
    if isinstance(fmi, bool) or not isinstance(fmi, int) or fmi not in (2, 3):
        raise ExportError(f"fmi is {fmi!r}. Give the version 2 or 3.")
    if fmi == 3 and backend != "native":
        raise ExportError(f"the backend '{backend}' makes FMUs of FMI 2.0 only. Leave fmi out, or use 'native'.")
    return fmi


def _arrays(arrays: bool, fmi: int, naming: str) -> bool:
    """Whether vectors are arrays. Raises ExportError where there are none."""
    if not _checks.flag(arrays, "arrays"):
        return False
    if fmi != 3:
        raise ExportError("FMI 2.0 has no arrays. Give fmi=3 (--fmi 3) too, or leave arrays out.")
    if naming != STRUCTURED:
        raise ExportError(f"arrays have structured names, not '{naming}' ones. Leave naming or arrays out.")
    return True


def _check_exchanged(kind: str) -> None:
    """Raises ExportError for an FMU without Model Exchange, whose states nobody sees."""
    if MODEL_EXCHANGE not in KINDS[kind]:
        raise ExportError("states='independent' is for Model Exchange. Leave it out, or give kind='cs+me' or 'me'.")


def _for_real_time(backend: str, kind: str, inverse: bool, options: RunOptions) -> RunOptions:
    """The options with a scheme of fixed steps. Raises ExportError for what has no steps of its own."""
    if backend != "native":
        raise ExportError(f"realtime=True is for the backend 'native', not for '{backend}'.")
    if inverse:
        raise ExportError("an FMU of inverse dynamics is not integrated. Leave realtime or inverse out.")
    if kind != "cs":
        raise ExportError(
            f"an FMU for real time integrates by itself, which the kind '{kind}' does not say. Leave kind out, or give "
            "'cs'."
        )
    return fixed_scheme(options)


def _check_inverse(backend: str, kind: str, scene: bool, options: RunOptions) -> None:
    """Raises ExportError for what an FMU of inverse dynamics does not have."""
    if backend != "native":
        raise ExportError(f"inverse=True is for the backend 'native', not for '{backend}'.")
    if kind != "cs":
        raise ExportError(
            f"an FMU of inverse dynamics has no states to integrate, and no kind '{kind}'. Leave kind out, or give "
            "'cs'."
        )
    if scene:
        raise ExportError("an FMU of inverse dynamics moves as its inputs do: it has no scene. Leave scene out.")
    if named := given(options):
        raise ExportError(f"inverse dynamics is not integrated: {', '.join(named)} cannot be given with inverse=True.")


def _scene(image: ModelImage) -> Entries:
    from fmumbs.view import view_model

    yield "documentation/scene.html", view_model(image).html.encode()


def native_entries(
    image: ModelImage,
    platforms: Sequence[str] | None,
    naming: str = STRUCTURED,
    scene: bool = False,
    kind: str = "cs+me",
    fmi: int = 2,
    arrays: bool = False,
    sections: tuple[tuple[str, str], ...] = (),
) -> Entries:
    """The files of a native FMU that depend on its model: name in the archive, contents.

    scene: links to its page; kind: of KINDS; arrays: vectors are arrays; sections: of its documentation, more than
    every FMU has.
    """
    name = model_identifier(image.name)
    variables, tool = named(image.variables[:], naming), installed.tool()
    description = model_description(
        image,
        variables,
        naming=naming,
        capabilities=replace(INVERSE if asks_for_inverse(image) else NATIVE, kinds=KINDS[kind]),
        sources=(source_name(name),),
        tool=tool,
        licence=installed.LICENCE,
        fmi=fmi,
        arrays=arrays,
    )
    yield from installed.licences().items()
    yield "modelDescription.xml", fmi2_xml(description) if fmi == 2 else fmi3_xml(description)
    picture = "model.png" if fmi == 2 else "terminalsAndIcons/icon.png"
    yield picture, icon(image)
    if description.terminals:
        yield TERMINALS, terminals_xml(description.terminals)
    for platform, (suffix, binary) in installed.binaries(platforms).items():
        for folder in (platform,) if fmi == 2 else PLATFORMS.get(platform, (platform,)):
            yield f"binaries/{folder}/{name}{suffix}", binary
    yield "resources/model.fmb", image.bytes
    notes = OF_INVERSE if asks_for_inverse(image) else OF_DYNAMICS if fmi == 2 else OF_DYNAMICS3
    notes = replace(notes, sections=(*sections, *notes.sections))
    page = documentation(image, variables, tool=tool, notes=notes, scene=scene, picture=picture, fmi=fmi)
    yield "documentation/index.html", page
    if fmi == 3:
        yield "sources/buildDescription.xml", build_description(description)
    yield f"sources/{source_name(name)}", source(name, image.bytes)


BACKENDS: dict[str, Callable[..., Entries]] = {
    "native": native_entries,
    "pythonfmu": pythonfmu_entries,
}


def _inverse(image: ModelImage, actuated: Sequence[str] | None) -> ModelImage:
    """The image of inverse dynamics; with actuators, which are tried there, it starts at rest, and where loops close.

    Raises ModelError where they do not determine the forces.
    """
    found = inverse_image(image, actuated)
    if actuated is None:
        return found
    from fmumbs.run.inverse import inverse_dynamics
    from fmumbs.run.solver import Solver

    solver = Solver(image)
    solver.assemble()
    inverse_dynamics(solver, solver.positions, actuated=actuated)
    start = {"start_p": solver.positions, "start_u": np.zeros(image.sizes["speeds"])}
    return ModelImage(pack(found.sizes, found.arrays | start))


def _check_equilibrium(image: ModelImage) -> None:
    """Raises EquilibriumError if there is none with the values that are exported; warns of an unstable one."""
    from fmumbs.run.equilibrium import resting
    from fmumbs.run.start import start_warnings

    for message in start_warnings(image.name, (), resting(image).departure):
        warnings.warn(message, StartWarning, stacklevel=3)


def _check_count(image: ModelImage, all_variables: bool) -> None:
    count = len(image.variables)
    if count > MOST_VARIABLES and not all_variables:
        raise ExportError(
            f"'{image.name}' has {count} variables, more than {MOST_VARIABLES}, which slows importers down. Declare "
            "those you need with model.input(), model.output() and model.parameter(), or export all with "
            "all_variables=True (--all)."
        )


def _date() -> Date:
    """The date of the entries: not before the first date that a zip can hold."""
    date = source_date()
    return OLDEST if date is None else max(OLDEST, date.timetuple()[:6])


def write(target: Path, data: bytes) -> None:
    """Writes an archive atomically. Raises ExportError if it cannot be written."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with whole(target) as file:
            file.write(data)
    except (OSError, ValueError) as error:  # ValueError: an invalid path
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise ExportError(
            f"'{target}' could not be written ({len(data)} bytes): {reason}. Choose another path, or free some space."
        ) from error
