"""Verifies an FMU: its archive, its XML, and every capability that it declares.

The XML is checked with the schema of its version of FMI and with FMPy's validation; each capability is exercised
through FMPy on the FMU's binary; and an FMU with a model image is compared with the Solver, bit for bit.
"""

import os
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from fmumbs.errors import FmumbsError
from fmumbs.play.fmu import IMAGE
from fmumbs.play.host import other_binaries
from fmumbs.play.unpacking import open_archive, version_of
from fmumbs.verify import checks, differences, exchange
from fmumbs.verify.differences import NotCompared

if TYPE_CHECKING:
    from fmumbs.compiler import ModelImage
    from fmumbs.mechanism import Model
    from fmumbs.play.fmu import Fmu


@dataclass(frozen=True)
class Finding:
    """A problem: the check that found it, and a sentence."""

    check: str
    message: str

    def __str__(self) -> str:
        return f"{self.check}: {self.message}"


# Checks of the binary, in this order
FIRST = "instances and steps"
CAPABILITIES: dict[str, Callable[["Fmu"], Iterator[str]]] = {
    "start values": checks.starts_as_described,
    "stop time": checks.stops_in_time,
    "reset": checks.resets,
    "variable communication steps": differences.varies_the_step,
    "state": checks.keeps_its_state,
    "serialised state": checks.serialises_its_state,
    "directional derivatives": differences.differentiates_by_inputs,
    "input derivatives": differences.follows_input_derivatives,
    "output derivatives": differences.differentiates_by_time,
}
# Checks by Model Exchange, of an FMU that is made for it
EXCHANGES: dict[str, Callable[["Fmu"], Iterator[str]]] = {
    "states and derivatives": exchange.answers_alike,
    "Jacobian": exchange.differentiates,
    "both kinds alike": exchange.moves_alike,
}
CHECKS = ("archive", "schema", "validation", "model image", FIRST, *CAPABILITIES, "parity with the Solver", *EXCHANGES)


def verify_fmu(
    path: "str | os.PathLike[str]",
    against: "Model | ModelImage | None" = None,
    *,
    progress: Callable[[str], None] | None = None,
    notes: Callable[[Finding], None] | None = None,
) -> list[Finding]:
    """Verifies the FMU at `path`; returns the findings, [] if there are none.

    An FMU that violates the schema is not run, and one that cannot step is not checked further. The calls run in
    another thread, so that Ctrl-C ends the wait for an FMU that does not return.

    against: the model that the FMU should match; None for the image that it contains.
    progress: called with the name of each check (of CHECKS) when it begins.
    notes: called with a finding for everything that could not be judged, such as a signal that is too fast.

    Raises ExportError if `path` cannot be read as an FMU of FMI 2.0 or 3.0.
    """
    path = Path(path)
    with open_archive(path):
        pass  # raises ExportError if it cannot be read
    from fmumbs.play.fmu import Fmu

    findings: list[Finding] = []
    check = partial(_check, findings, progress, notes)
    check("archive", lambda: _archive(path))
    if not check("schema", lambda: _schema(path)):
        return findings
    check("validation", lambda: _validation(path))
    check("model image", lambda: _image(path))
    with Fmu(path) as fmu:
        if not check(FIRST, lambda: checks.runs(fmu)):
            return findings
        for name, problems in CAPABILITIES.items():
            check(name, partial(problems, fmu))
        check("parity with the Solver", lambda: _parity(path, fmu, against))
        exchanged = fmu.description.modelExchange is not None
    if exchanged:
        _check_exchange(path, check)
    return findings


def _check_exchange(path: Path, check: Callable[[str, Callable[[], Iterator[str]]], bool]) -> None:
    from fmumbs.play.fmu import Fmu

    with Fmu(path, exchange=True) as fmu:
        for name, problems in EXCHANGES.items():
            check(name, partial(problems, fmu))


def _check(
    findings: list[Finding],
    progress: Callable[[str], None] | None,
    notes: Callable[[Finding], None] | None,
    name: str,
    problems: Callable[[], Iterator[str]],
) -> bool:
    """Adds what a check finds to `findings`; returns whether it found nothing."""
    from fmumbs.play.fmu import BackgroundCall

    if progress is not None:
        progress(name)
    before = len(findings)
    messages: list[str] = []

    def look() -> None:
        with np.errstate(all="ignore"):  # a value that is not finite is a finding, not a warning
            messages.extend(_guarded(problems))

    BackgroundCall(look).wait()
    for message in messages:
        if not isinstance(message, NotCompared):
            findings.append(Finding(name, message))
        elif notes is not None:
            notes(Finding(name, message))
    return len(findings) == before


def not_executed(path: str | os.PathLike[str]) -> list[str]:
    """Platforms of the FMU whose binaries verify_fmu() cannot execute on this host."""
    with open_archive(Path(path)) as archive:
        return sorted(set(other_binaries(archive.sizes).values()))


def _guarded(problems: Callable[[], Iterator[str]]) -> Iterator[str]:
    """The problems; an exception that stops the check is one more."""
    try:
        yield from problems()
    except FmumbsError as error:
        yield str(error)
    except Exception as error:
        yield f"stopped by {type(error).__name__}: {error}"


def _archive(path: Path) -> Iterator[str]:
    with zipfile.ZipFile(path) as archive:
        broken = archive.testzip()
        if broken is not None:
            yield f"'{broken}' is damaged"
        names = archive.namelist()
        stored = [i.filename for i in archive.infolist() if i.compress_type != zipfile.ZIP_DEFLATED and i.file_size]
        for name in stored:
            yield f"'{name}' is not deflated, which Java importers refuse"
        if not any(name.startswith(("binaries/", "sources/")) for name in names):
            yield "there is neither a binary nor source code"


def _schema(path: Path) -> Iterator[str]:
    import fmpy
    from lxml import etree

    with open_archive(path) as archive:
        root = archive.description
    version = f"fmi{version_of(root)}"
    folder = Path(fmpy.__file__).parent / "schema" / version
    schema = etree.XMLSchema(file=str(folder / f"{version}ModelDescription.xsd"))
    schema.validate(root)
    for entry in schema.error_log:
        yield f"modelDescription.xml, line {entry.line}: {entry.message}"


def _validation(path: Path) -> Iterator[str]:
    from fmpy.validation import validate_fmu

    yield from validate_fmu(str(path))


def _image(path: Path) -> Iterator[str]:
    """The image in the FMU is intact and matches the description; so do its copy in sources/ and the experiment."""
    from fmumbs.compiler import ModelImage
    from fmumbs.export.description_parts import experiment_attributes
    from fmumbs.export.model_description import ARRAYS, experiment_of, model_identifier
    from fmumbs.export.sources import image_source, source_name

    with open_archive(path) as archive:
        root = archive.description
        if IMAGE not in archive.sizes:
            return
        image = ModelImage.load(archive.read(IMAGE))
        name = f"sources/{source_name(model_identifier(image.name))}"
        copy = archive.read(name) if name in archive.sizes else None
    guid = (root.get("guid") or root.get("instantiationToken") or "").removesuffix(ARRAYS)
    if image.guid != guid:
        yield f"'{IMAGE}' has the GUID {image.guid}, modelDescription.xml {guid}"
    if copy is not None and image_source(image.bytes) not in copy:
        yield f"the image in '{name}' is not '{IMAGE}'"
    experiment = root.find("DefaultExperiment")
    attributes = {} if experiment is None else experiment.attrib
    for name, value in experiment_attributes(experiment_of(image)).items():
        if name not in attributes or float(attributes[name]) != float(value):
            yield f"the default experiment's {name} is {attributes.get(name)}, that of '{IMAGE}' {value}"


def _parity(path: Path, fmu: "Fmu", against: "Model | ModelImage | None") -> Iterator[str]:
    from fmumbs.compiler import ModelImage, compile

    with open_archive(path) as archive:
        carried = archive.read(IMAGE) if IMAGE in archive.sizes else None
    image = ModelImage.load(carried) if carried is not None else None
    if against is not None:
        wanted = against if isinstance(against, ModelImage) else compile(against)
        if image is not None and image.hash != wanted.hash:
            yield f"it contains the image {image.hash[:12]} of '{image.name}', not {wanted.hash[:12]}"
        image = wanted
    if image is not None:
        yield from checks.equals_the_solver(fmu, image)
