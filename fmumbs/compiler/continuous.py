"""The continuous states of an image, their rates, and the time, for hosts that integrate themselves.

A state is a variable of the table, or else one beyond it; so is its rate, which is a variable of the table only where
no loop adds a pull to it (core/motion/pull.c), as none does to independent states. References beyond the table are
those of fmumbs.h: the time, the states, their rates, the event indicators.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from fmumbs.compiler.image import ModelImage
from fmumbs.compiler.kinds import LAW, Kind, kinds
from fmumbs.compiler.layout import ffi, lib
from fmumbs.compiler.variables import Variable

_RATES = {
    "": "1/s", "rad": "rad/s", "rad/s": "rad/s2", "m": "m/s", "m/s": "m/s2", "A": "A/s", "Pa": "Pa/s",
}  # units of the rates  # fmt: skip


@dataclass(frozen=True)
class Continuous:
    """time: its variable. beyond: states and rates that are not in the table. states, rates: references, in the core's
    order. nominals: magnitudes of the states, at the start. marks: event indicators, which are variables since FMI 3.0.
    equal: rates beyond the table that are a state, such as the velocity of a joint outside loops, and that state.
    """

    time: Variable
    beyond: list[Variable]
    states: list[int]
    rates: list[int]
    nominals: list[float]
    marks: list[Variable]
    equal: dict[int, int]

    @property
    def indicators(self) -> int:
        """The number of event indicators."""
        return len(self.marks)


def continuous(image: ModelImage) -> Continuous:
    """Those of an image."""
    table, named = len(image.variables), image.variables.structured
    with image.borrow() as instance:
        count = lib.fm_continuous_count(instance)
        nominals = ffi.new("double[]", max(count, 1))
        lib.fm_nominals(instance, nominals)
        places = dict(_places(image, instance))
        indicators = lib.fm_indicator_count(instance)
    every = range(count)
    variables, pulled = image.variables, image.sizes["rows"] > 0 and not image.sizes["dependent_u"]
    elements, components = [places[i][1] for i in every], [places[i][2] for i in every]
    found = variables.rows([places[i][0].index for i in every], elements, components)
    integrated = variables.rows([places[i][0].rate for i in every], elements, components)  # no kind has the number -1
    known = [row for row in found if row is not None]
    names = dict(zip(known, variables.names(known), strict=True))
    units = dict(zip(known, variables.units(known), strict=True))
    states = [table + 1 + i if row is None else row for i, row in enumerate(found)]
    hidden, rates, slow, equal = list[Variable](), list[int](), list[Variable](), dict[int, int]()
    reference_of = {(kind.index, *where): states[i] for i, (kind, *where) in places.items()}
    for i, row in enumerate(found):
        kind, element, component = places[i]
        name = named.name(kind.index, element, component) if row is None else names[row]
        if row is None:
            hidden.append(_local(states[i], name, "", f"{kind.description}, a continuous state", None, None))
        own = integrated[i]
        if own is not None and not pulled:
            rates.append(own)
            continue
        rates.append(table + 1 + count + i)
        inputs = () if kind.place in _POSITIONS else None if own is None else variables[own].dependencies
        unit = _RATES.get(units.get(states[i], "?"), "")
        if not pulled and (state := reference_of.get((kind.rate, element, component))) is not None:
            equal[rates[i]] = state
        slow.append(_local(rates[i], f"der({name})", unit, f"rate of {name}", states[i], inputs))
    laws = named.elements(LAW)
    marks = [_mark(table + 1 + 2 * count + law, laws[law]) for law in range(indicators)]
    return Continuous(time_of(image), hidden + slow, states, rates, list(nominals)[:count], marks, equal)


def time_of(image: ModelImage) -> Variable:
    """The time, as a variable."""
    at = len(image.variables)
    return Variable(at, "time", "", None, "independent", "continuous", None, "real", None, "s", "time", None, None)


def _mark(reference: int, law: str) -> Variable:
    """The event indicator of a force law."""
    text = f"event indicator of '{law}', negative where it leaves its piece"
    return _local(reference, f"{law}.indicator", "", text, None, None)


_POSITIONS = (
    lib.FM_AT_POSITION, lib.FM_AT_QUATERNION, lib.FM_AT_EXCITED, lib.FM_AT_BRISTLE, lib.FM_AT_MODAL_POSITION
)  # fmt: skip


def _places(image: ModelImage, instance: object) -> Iterator[tuple[int, tuple[Kind, int, int]]]:
    """Each continuous state, and its kind, element and component."""
    for kind in kinds():
        if not kind.state:
            continue
        elements, components = image.variables.structured.listed(kind)
        for element, component in zip(elements.tolist(), components.tolist(), strict=True):
            state = lib.fm_continuous_of(instance, kind.index, element, component)
            if state >= 0:
                yield state, (kind, element, component)


def _local(
    reference: int, name: str, unit: str, text: str, derivative_of: int | None, inputs: tuple[int, ...] | None
) -> Variable:
    return Variable(
        reference, name, "", None, "local", "continuous", "calculated", "real", None, unit, text, derivative_of, inputs
    )
