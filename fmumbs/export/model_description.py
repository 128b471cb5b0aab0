"""What modelDescription.xml says of an FMU, whatever the version of FMI; fmi2.py and fmi3.py write it.

All that an importer sees comes from the variable table of a model image: names, causalities, start values, units,
derivatives, and the inputs on which each output depends (structure.py). Variables are counted by their value
references, which are their places in the table.
"""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from fmumbs._naming import FLAT, STRUCTURED
from fmumbs.compiler.continuous import continuous, time_of
from fmumbs.compiler.layout import ffi, lib
from fmumbs.compiler.schemes import SCHEMES
from fmumbs.errors import ExportError
from fmumbs.export.naming import named
from fmumbs.export.structure import Structure, structure_of
from fmumbs.export.terminals import Terminal, terminals
from fmumbs.export.units import Unit, unit

if TYPE_CHECKING:
    from fmumbs.compiler import Continuous, ModelImage, Variable

LOG_CATEGORIES = {
    "logStatusError": "refused calls, with the reason",
    "logStatusDiscard": "failed steps, with the time where they stopped",
    "logStatusWarning": "calls that succeeded but may not do what was intended",
    "logAll": "every message",
}

CO_SIMULATION, MODEL_EXCHANGE = "cs", "me"
# What `kind` of an export can be, and the kinds of FMU that each is
KINDS = {"cs+me": (CO_SIMULATION, MODEL_EXCHANGE), "cs": (CO_SIMULATION,), "me": (MODEL_EXCHANGE,)}

# Follows the GUID of the image where vectors are arrays (fmi/fmi3.c)
ARRAYS = "/arrays"

# Smallest and largest value of an integer parameter, by its kind
RANGES = {"solver.scheme": (0, len(SCHEMES) - 1), "solver.equilibrium": (0, 2)}


@dataclass(frozen=True)
class Capabilities:
    """Capabilities of a backend's binary. log_categories: names in LOG_CATEGORIES; kinds: of FMU."""

    variable_step: bool = True
    interpolates_inputs: bool = True
    output_derivatives: int = 1
    keeps_state: bool = True
    serialises_state: bool = True
    directional_derivatives: bool = True
    adjoint_derivatives: bool = False
    needs_tool: bool = False
    log_categories: tuple[str, ...] = tuple(LOG_CATEGORIES)
    kinds: tuple[str, ...] = KINDS["cs"]


NATIVE = Capabilities()
INVERSE = Capabilities(interpolates_inputs=False, output_derivatives=0)


@dataclass(frozen=True)
class Experiment:
    """The default experiment [s]; its tolerance is that of the integration, as importers pass it to the FMU."""

    start: float
    stop: float
    step: float
    tolerance: float


@dataclass(frozen=True)
class ModelDescription:
    """naming: the convention that the variables' names follow. tool: name and version of the exporter. licence: name of
    its licence. date: of the file, None for none. sources: C files in the FMU's sources/, in the order of compilation.
    units: those of the variables, by name. continuous: the states and their rates, in Model Exchange. terminals: the
    flanges of the joints. arrays: in FMI 3.0, how many variables are one array, by the reference of the first.
    """

    name: str
    guid: str
    description: str
    naming: str
    tool: str
    licence: str
    date: datetime | None
    capabilities: Capabilities
    sources: Sequence[str]
    units: Sequence[Unit]
    experiment: Experiment
    variables: "Sequence[Variable]"
    structure: Structure
    continuous: "Continuous | None" = None
    terminals: Sequence[Terminal] = ()
    arrays: Mapping[int, int] = field(default_factory=dict)

    @property
    def identifier(self) -> str:
        return model_identifier(self.name)


def model_description(
    image: "ModelImage",
    variables: "Sequence[Variable] | None" = None,
    *,
    naming: str = STRUCTURED,
    capabilities: Capabilities = NATIVE,
    sources: Sequence[str] = (),
    tool: str = "fmumbs",
    licence: str = "",
    fmi: int = 2,
    arrays: bool = False,
) -> ModelDescription:
    """Follows from the arguments, and SOURCE_DATE_EPOCH.

    variables: image.variables as a list, if the caller has one, under the names of the FMU; fmi: the version, 2 or 3,
    which makes variables of the time and of event indicators; arrays: vectors are arrays, which FMI 3.0 has; for the
    others see ModelDescription. Raises ExportError
    for an unknown unit.
    """
    table = image.variables[:] if variables is None else variables
    hosted, table, own = _tables(image, table, naming, MODEL_EXCHANGE in capabilities.kinds, fmi)
    structure = structure_of(own, image.equilibrium, hosted)
    timed = [len(image.variables)] if image.sizes["excitations"] > 0 else []
    if fmi == 3 and timed:
        structure = structure.following(timed[0])
    if fmi == 3 and hosted is not None:
        structure = structure.listing(own, hosted.states, timed)
    lengths = _arrays(image) if arrays else {}
    if lengths:
        structure = structure.of_arrays({first + i: first for first, length in lengths.items() for i in range(length)})
    return ModelDescription(
        name=image.name,
        guid=image.guid + ARRAYS if arrays else image.guid,
        description=image.description,
        naming=naming,
        tool=tool,
        licence=licence,
        date=source_date(),
        capabilities=replace(capabilities, adjoint_derivatives=fmi == 3 and _has_adjoint(image, capabilities)),
        sources=sources,
        units=[unit(name) for name in sorted({v.unit for v in table if v.unit})],
        experiment=experiment_of(image),
        variables=table,
        structure=structure,
        continuous=hosted,
        terminals=terminals(image, own),
        arrays=lengths,
    )


def _has_adjoint(image: "ModelImage", of: Capabilities) -> bool:
    """Whether all outputs have adjoint derivatives, by all inputs, states and tunable parameters."""
    return of.directional_derivatives and bool(lib.fm_has_adjoint(image.take_instance(derivatives=True), ffi.NULL, 0))


def _arrays(image: "ModelImage") -> dict[int, int]:
    """The number of elements of each vector that is an array, by its reference."""
    with image.borrow() as instance:
        lengths = {i: int(lib.fm_array_length(instance, i)) for i in range(len(image.variables))}
    return {reference: length for reference, length in lengths.items() if length > 1}


def _tables(
    image: "ModelImage", table: "Sequence[Variable]", naming: str, exchange: bool, fmi: int
) -> "tuple[Continuous | None, Sequence[Variable], Sequence[Variable]]":
    """What Model Exchange adds, all variables of the description, and those of them that the image has."""
    hosted = continuous(image) if exchange else None
    if hosted is not None:
        hosted, table = _with_continuous(hosted, table, naming, fmi)
        return hosted, table, table[1 : len(image.variables) + 1]
    own = table
    if fmi == 3:
        table = _unique([time_of(image), *table], "the time, as FMI 3.0 needs it", "with fmi=2 (--fmi 2)")
    return None, table, own


def _with_continuous(
    hosted: "Continuous", table: "Sequence[Variable]", naming: str, fmi: int
) -> "tuple[Continuous, Sequence[Variable]]":
    """All variables of an FMU for Model Exchange: the time, which optimisers expect first, the table, then states and
    rates that are not in it. Only rates of states are derivatives.
    """
    beyond = replace(hosted, beyond=list(named(hosted.beyond, naming)), marks=list(named(hosted.marks, naming)))
    if naming == FLAT:
        flat = (replace(v, name=v.name.replace("der(", "der_").replace(")", "")) for v in beyond.beyond)
        beyond = replace(beyond, beyond=list(flat))
    integrals = dict(zip(hosted.rates, hosted.states, strict=True))
    variables = [
        v if v.derivative_of == integrals.get(v.index) else replace(v, derivative_of=integrals.get(v.index))
        for v in table
    ]
    whole = [hosted.time, *variables, *beyond.beyond, *(beyond.marks if fmi == 3 else ())]
    what = "the time, of a state, of a rate or of an event indicator, as Model Exchange needs them"
    return beyond, _unique(whole, what, "with kind='cs' (--kind cs)")


def _unique(variables: "list[Variable]", what: str, instead: str) -> "list[Variable]":
    """The variables. Raises ExportError if two have one name."""
    names = [v.name for v in variables]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ExportError(
            f"'{twice}' is also the name of {what}. Declare the variable under another name, or export {instead}."
        )
    return variables


def experiment_of(image: "ModelImage") -> Experiment:
    """The model's, or 1 s in steps of 0.01 s."""
    return Experiment(
        start=0.0,
        stop=float(image.default_experiment.stop or 1.0),
        step=float(image.default_experiment.interval or 0.01),
        tolerance=float(image.tolerance),
    )


def model_identifier(name: str) -> str:
    """The name of the binary: the model's name as a C identifier, short enough for a file name."""
    identifier = re.sub(r"\W", "_", name, flags=re.ASCII)[:200]
    return identifier if re.match(r"[A-Za-z_]", identifier) else f"_{identifier}"


def source_date() -> datetime | None:
    """The date in SOURCE_DATE_EPOCH, None if it is not set. Raises ExportError for one that a zip cannot hold."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    if epoch is None:
        return None
    try:
        date = datetime.fromtimestamp(int(epoch), UTC)
    except (ValueError, OverflowError, OSError) as error:
        raise ExportError(f"SOURCE_DATE_EPOCH is '{epoch[:60]}'. Give whole seconds since 1970.") from error
    if not 1970 <= date.year <= 2107:
        raise ExportError(f"SOURCE_DATE_EPOCH is '{epoch}', in the year {date.year}. Give one from 1970 to 2107.")
    return date
