"""FMUs of FMI 3.0 under the names that FMPy has for FMI 2.0, so that the rest asks no FMU for its version.

Arrays of real numbers, whole ones and Booleans are shown as their elements, name[1], name[2], ..., each with a value
reference of its own; their functions take whole arrays.
"""

import copy
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

# Types of FMI 3.0 that FMI 2.0 has too, with their names there
TYPES = {"Float64": "Real", "Int32": "Integer", "Boolean": "Boolean"}
_NAMES = {
    "setInteger": "setInt32",
    "getFMUstate": "getFMUState", "freeFMUstate": "freeFMUState",
    "serializeFMUstate": "serializeFMUState", "deSerializeFMUstate": "deserializeFMUState",
    "newDiscreteStates": "updateDiscreteStates",
    "getDerivatives": "getContinuousStateDerivatives",
}  # fmt: skip


@dataclass(frozen=True)
class Element:
    """Of an array: its reference, how many elements it has, which of them this is, and the start value if it is set by
    the importer alone.
    """

    array: int
    length: int
    place: int
    start: str | None


Elements = Mapping[int, Element]


def name_as_fmi2(description: Any, root: Any) -> Elements:
    """Gives FMPy's description of an FMU of FMI 3.0 the names of FMI 2.0, and elements in place of arrays; returns
    these by their references. Arrays whose sizes are variables stay, as they are not read.

    root: of modelDescription.xml (lxml), in which FMPy does not find directional derivatives.
    """
    for tag, one in (("CoSimulation", description.coSimulation), ("ModelExchange", description.modelExchange)):
        if one is not None:
            provided = root.find(tag).get("providesDirectionalDerivatives")
            one.providesDirectionalDerivative = provided in ("true", "1")
    elements = _without_arrays(description)
    for variable in description.modelVariables:
        if not variable.dimensions:
            variable.type = TYPES.get(variable.type, variable.type)
    return elements


def _without_arrays(description: Any) -> dict[int, Element]:
    """Replaces arrays of FMPy's description by their elements, wherever these are mentioned."""
    variables, elements = description.modelVariables, dict[int, Element]()
    if not any(variable.dimensions for variable in variables):
        return elements
    taken = {variable.valueReference for variable in variables}
    parts: dict[int, list[Any]] = {}  # by the identity of the variable
    for variable in variables:
        if variable.type in TYPES and _has_fixed_sizes(variable):
            parts[id(variable)] = [one for _, one in _split(variable, taken, elements)]
    for variable in variables:
        derivative = variable.derivative
        for i, one in enumerate(parts.get(id(variable), ())):
            one.derivative = derivative if derivative is None else parts.get(id(derivative), [derivative] * (i + 1))[i]
    description.modelVariables = [one for variable in variables for one in parts.get(id(variable), [variable])]
    for unknowns in (description.outputs, description.derivatives, description.initialUnknowns):
        unknowns[:] = [_of_variable(unknown, one, parts) for unknown in unknowns
                       for one in parts.get(id(unknown.variable), [unknown.variable])]  # fmt: skip
    return elements


def _has_fixed_sizes(variable: Any) -> bool:
    return bool(variable.dimensions) and all(one.start is not None for one in variable.dimensions)


def _split(variable: Any, taken: set[int], elements: dict[int, Element]) -> Iterator[tuple[int, Any]]:
    """The elements of an array, as scalars: they follow its reference where nothing else does."""
    shape = [int(one.start) for one in variable.dimensions]
    length, array = int(np.prod(shape)), int(variable.valueReference)
    starts = variable.start.split() if isinstance(variable.start, str) else []
    kept = variable.causality in ("input", "parameter")
    for place, index in enumerate(np.ndindex(*shape)):
        one = copy.copy(variable)
        one.name = f"{variable.name}[{','.join(str(i + 1) for i in index)}]"
        one.dimensions, one.shape = [], ()
        one.start = starts[place if len(starts) == length else 0] if starts else None
        if place > 0:
            one.valueReference = array + place if array + place not in taken else max(taken) + 1
            taken.add(one.valueReference)
        elements[one.valueReference] = Element(array, length, place, one.start if kept else None)
        yield place, one


def _of_variable(unknown: Any, variable: Any, parts: Mapping[int, list[Any]]) -> Any:
    """The unknown for one element of its variable; it depends on all elements of arrays."""
    one = copy.copy(unknown)
    one.variable = variable
    if unknown.dependencies is not None:
        one.dependencies = [part for known in unknown.dependencies for part in parts.get(id(known), [known])]
        kinds = unknown.dependenciesKind
        if kinds:
            both = zip(unknown.dependencies, kinds, strict=True)
            one.dependenciesKind = [kind for known, kind in both for _ in parts.get(id(known), [known])]
    return one


@dataclass(frozen=True)
class Layout:
    """How some variables are read: (arrays,) references, how many values these have, where each variable is."""

    references: list[int]
    count: int
    places: list[int]


class AsFmi2:
    """FMPy's FMU3Slave or FMU3Model, `model`, called as FMU2Slave and FMU2Model are, by elements of arrays."""

    def __init__(self, model: Any, elements: Elements) -> None:
        self.model, self.elements = model, elements
        self._experiment: dict[str, Any] = {}
        self._set: dict[int, list[float]] = {}
        self._start_again()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.model, _NAMES.get(name, name))

    def _start_again(self) -> None:
        """What the importer alone sets has its start values, which cannot be read before initialization."""
        self._set.clear()
        for one in self.elements.values():
            if one.start is not None:
                self._set.setdefault(one.array, []).append(float(one.start))

    def layout(self, references: Sequence[int]) -> Layout:
        """Whole arrays in place of their elements."""
        begins: dict[int, int] = {}
        count, places = 0, []
        for reference in references:
            one = self.elements.get(reference, Element(reference, 1, 0, None))
            if one.array not in begins:
                begins[one.array] = count
                count += one.length
            places.append(begins[one.array] + one.place)
        return Layout(list(begins), count, places)

    def _get(self, get: Any, references: Sequence[int]) -> list[Any]:
        if not self.elements:
            return list(get(references))
        layout = self.layout(references)
        values = get(layout.references, layout.count)
        return [values[place] for place in layout.places]

    def getReal(self, references: Sequence[int]) -> list[float]:
        return self._get(self.model.getFloat64, references)

    def getInteger(self, references: Sequence[int]) -> list[int]:
        return self._get(self.model.getInt32, references)

    def getBoolean(self, references: Sequence[int]) -> list[bool]:
        return [bool(value) for value in self._get(self.model.getBoolean, references)]

    def setReal(self, references: Sequence[int], values: Sequence[float]) -> None:
        """Other elements of an array keep their values."""
        if not self.elements:
            self.model.setFloat64(references, values)
            return
        layout = self.layout(references)
        whole: dict[int, list[float]] = {}
        for reference, value in zip(references, values, strict=True):
            one = self.elements.get(reference, Element(reference, 1, 0, None))
            if one.array not in whole:
                whole[one.array] = [0.0] if one.length == 1 else self._whole(one)
            whole[one.array][one.place] = value
        self.model.setFloat64(layout.references, [value for array in layout.references for value in whole[array]])
        self._set |= {array: values for array, values in whole.items() if len(values) > 1}

    def _whole(self, one: Element) -> list[float]:
        """All values of the array that an element is of."""
        if one.array in self._set:
            return list(self._set[one.array])
        return list(self.model.getFloat64([one.array], one.length))

    def getDirectionalDerivative(
        self, unknowns: Sequence[int], knowns: Sequence[int], seed: Sequence[float]
    ) -> list[float]:
        rows, columns = self.layout(unknowns), self.layout(knowns)
        along = [0.0] * columns.count
        for place, value in zip(columns.places, seed, strict=True):
            along[place] = value
        found = self.model.getDirectionalDerivative(rows.references, columns.references, along, rows.count)
        return [found[place] for place in rows.places]

    def getRealOutputDerivatives(self, references: Sequence[int], orders: Sequence[int]) -> list[float]:
        """Elements of one array have one order. FMPy's function takes scalars alone."""
        from fmpy.fmi3 import fmi3Float64, fmi3Int32, fmi3ValueReference

        layout = self.layout(references)
        n = len(layout.references)
        order = {layout.places[i]: value for i, value in enumerate(orders)}
        of_arrays = [orders[0]] * n if len(set(orders)) < 2 else [order[place] for place in layout.places]
        values = (fmi3Float64 * layout.count)()
        self.model.fmi3GetOutputDerivatives(
            self.model.component, (fmi3ValueReference * n)(*layout.references), n,
            (fmi3Int32 * n)(*of_arrays), values, layout.count,
        )  # fmt: skip
        return [values[place] for place in layout.places]

    def setFMUstate(self, state: Any) -> None:
        self.model.setFMUState(state)
        self._set.clear()

    def reset(self) -> None:
        self.model.reset()
        self._start_again()

    def setupExperiment(self, **experiment: Any) -> None:
        """FMI 3.0 is told when initialization mode is entered."""
        self._experiment = experiment

    def enterInitializationMode(self) -> None:
        self.model.enterInitializationMode(**self._experiment)

    def doStep(self, t: float, step: float) -> None:
        """A step that ends where it should, as earlyReturnAllowed is false."""
        self.model.doStep(t, step)
