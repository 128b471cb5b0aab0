"""On what outputs, derivatives of states and initial unknowns depend (FMI 2.0.4, section 2.2.8; FMI 3.0, 2.4.8).

Dependencies. In FMI the knowns are inputs and exposed continuous-time states. A state depends on itself only; any other
output that does not depend on all inputs lists the inputs it depends on and all states. An output that depends on
everything has no list, which means the same in the standard. A rate that is a state lists that state.

Initial unknowns are the outputs whose start value is computed (`initial` calculated or approx), in the order of their
references. Positions and velocities, including those that loops determine, depend on no input and no parameter: they
list the states with an exact start, positions only the positions among them. Forces of springs also list the
parameters. All others depend on all start values and have no list. With a start in equilibrium all three depend on
inputs and on parameters other than dampings too, and list them. An importer that sets solver.equilibrium of an FMU that
was exported without it finds the lists of the other start.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from fmumbs.compiler.kinds import kinds
from fmumbs.compiler.layout import lib

if TYPE_CHECKING:
    from fmumbs.compiler import Continuous, Variable

# Lists of dependencies with more entries in all are left out: they slow importers down more than they help, and
# leaving a list out is always correct.
MOST_DEPENDENCIES = 4_000_000

# The same of lists that FMI 3.0 has only for optimisers, in about as many bytes
MOST_LISTED = 300_000


@dataclass(frozen=True)
class Unknown:
    """dependencies: the knowns on which it depends, in order; None for all. Equal ones are often the same tuple."""

    reference: int
    dependencies: tuple[int, ...] | None


@dataclass(frozen=True)
class Structure:
    """The parts of <ModelStructure>, in the order of references."""

    outputs: Sequence[Unknown]
    derivatives: Sequence[Unknown]
    initial_unknowns: Sequence[Unknown]

    def following(self, time: int) -> "Structure":
        """The same, with the time among the knowns of outputs and derivatives; FMI 2.0 lists it nowhere."""
        lists: dict[int, tuple[int, ...]] = {}

        def timed(one: Unknown) -> Unknown:
            if one.dependencies is None:
                return one
            return Unknown(one.reference, lists.setdefault(id(one.dependencies), (*one.dependencies, time)))

        return Structure([*map(timed, self.outputs)], [*map(timed, self.derivatives)], self.initial_unknowns)

    def listing(
        self, variables: Sequence["Variable"], states: Sequence[int], timed: Sequence[int], most: float = MOST_LISTED
    ) -> "Structure":
        """The same with a list for every unknown, and tunable parameters among the knowns of outputs and derivatives:
        optimisers read an unknown without a list as an error, and a known that is not listed as one without effect.
        Unchanged if the lists have more than `most` entries. timed: the time, where it is a known.
        """
        parameters = [v.index for v in variables if v.variability == "tunable" and v.type == "real"]
        inputs = [v.index for v in variables if v.causality == "input"]
        everything = tuple(sorted({*inputs, *states, *timed, *parameters}))
        exact = tuple(v.index for v in variables if v.initial == "exact" or v.causality == "input")
        longest = max(len(everything), len(exact))
        if longest * (len(self.outputs) + len(self.derivatives) + len(self.initial_unknowns)) > most:
            return self
        motion = {v.index for v in variables if v.kind in _moving()}
        lists: dict[int, tuple[int, ...]] = {}

        def listed(one: Unknown) -> Unknown:
            known = one.dependencies
            if known is None:
                return Unknown(one.reference, everything)
            if one.reference in motion or len(known) == 1:
                return one
            return Unknown(one.reference, lists.setdefault(id(known), tuple(sorted({*known, *parameters}))))

        outputs, derivatives = ([*map(listed, some)] for some in (self.outputs, self.derivatives))
        starts = self.initial_unknowns
        initial = [Unknown(i.reference, exact if i.dependencies is None else i.dependencies) for i in starts]
        return Structure(outputs, derivatives, initial)

    def of_arrays(self, first: Mapping[int, int]) -> "Structure":
        """The same, with arrays in place of their elements; first: the array's reference by that of each element."""
        parts = (self.outputs, self.derivatives, self.initial_unknowns)
        return Structure(*(_of_arrays(some, first) for some in parts))


def _of_arrays(unknowns: Sequence[Unknown], first: Mapping[int, int]) -> list[Unknown]:
    """An array depends on what any of its elements does."""
    lists: dict[tuple[int, ...], tuple[int, ...] | None] = {}
    members: dict[int, list[tuple[int, ...] | None]] = {}
    for one in unknowns:
        members.setdefault(first.get(one.reference, one.reference), []).append(one.dependencies)

    def union(of: list[tuple[int, ...] | None]) -> tuple[int, ...] | None:
        key = tuple(sorted({id(one) for one in of}))
        if key not in lists:
            known = {first.get(one, one) for some in of for one in some or ()}
            lists[key] = None if None in of else tuple(sorted(known))
        return lists[key]

    return [Unknown(reference, union(of)) for reference, of in members.items()]


def structure_of(
    variables: Sequence["Variable"], at_rest: bool, continuous: "Continuous | None" = None
) -> Structure:
    """at_rest: the start is the equilibrium. continuous: the states and their rates in Model Exchange."""
    outputs = [v for v in variables if v.causality == "output"]
    initial = _initial_unknowns(variables, outputs, at_rest)
    if continuous is None:
        states, rates = _states(variables)
        lists = _Dependencies(outputs, states)
        return Structure([lists.unknown(v) for v in outputs], [lists.unknown(v) for v in rates], initial)
    lists = _Dependencies(outputs, set(continuous.states))
    beyond = {v.index: v for v in continuous.beyond}
    rates = [beyond[rate] if rate in beyond else variables[rate] for rate in continuous.rates]
    initial += [Unknown(v.index, None) for v in continuous.beyond]
    equal = {rate: (state,) for rate, state in continuous.equal.items()}
    derivatives = [Unknown(v.index, equal[v.index]) if v.index in equal else lists.unknown(v) for v in rates]
    return Structure([lists.unknown(v) for v in outputs], derivatives, initial)


def _initial_unknowns(variables: Sequence["Variable"], outputs: Sequence["Variable"], at_rest: bool) -> list[Unknown]:
    unknowns = [v for v in outputs if v.initial in ("calculated", "approx")]
    exact = {v.index for v in outputs if v.initial == "exact"}
    places = {index for index in exact if variables[index].kind in _suffixes(lib.FM_FOLLOWS_POSITIONS)}
    parameters = {v.index for v in variables if v.causality == "parameter"}
    known_of = {
        lib.FM_FOLLOWS_POSITIONS: places,
        lib.FM_FOLLOWS_VELOCITIES: exact,
        lib.FM_FOLLOWS_SPRING: exact | parameters,
    }
    if at_rest:
        known_of = dict.fromkeys(known_of, exact | _of_statics(variables))
    by_kind: dict[str, _Dependencies] = {}
    for follows, known in known_of.items():
        of = _suffixes(follows)
        by_kind |= dict.fromkeys(of, _Dependencies([v for v in unknowns if v.kind in of], known))
    return [by_kind[v.kind].unknown(v) if v.kind in by_kind else Unknown(v.index, None) for v in unknowns]


def _of_statics(variables: Sequence["Variable"]) -> set[int]:
    """The inputs and the parameters on which an equilibrium depends."""
    motion = ("damping", *(kind.suffix for kind in kinds() if kind.of_solver and kind.suffix != "solver.equilibrium"))
    of_forces = [v for v in variables if v.causality == "input" or v.causality == "parameter"]
    return {v.index for v in of_forces if v.kind not in motion}


@cache
def _suffixes(follows: int) -> frozenset[str]:
    """Suffixes of the outputs that follow positions, velocities, or what a spring does (FM_FOLLOWS_...)."""
    return frozenset(kind.suffix for kind in kinds() if kind.follows == follows)


def _moving() -> frozenset[str]:
    """Suffixes of what positions and velocities determine, whatever the parameters."""
    return _suffixes(lib.FM_FOLLOWS_POSITIONS) | _suffixes(lib.FM_FOLLOWS_VELOCITIES)


def _states(variables: Sequence["Variable"]) -> tuple[set[int], list["Variable"]]:
    """The exposed continuous-time states, and their derivatives; a body's velocity is not among them."""
    derivatives = [
        v
        for v in variables
        if v.derivative_of is not None and variables[v.derivative_of].initial in ("exact", "approx")
    ]
    return {v.derivative_of for v in derivatives if v.derivative_of is not None}, derivatives


class _Dependencies:
    """Of outputs, among inputs and these states; equal lists are made once."""

    def __init__(self, outputs: Sequence["Variable"], states: set[int]) -> None:
        partial = sum(v.dependencies is not None and v.index not in states for v in outputs)
        self.states = states
        self.listed = partial * len(states) <= MOST_DEPENDENCIES
        self.lists: dict[tuple[int, ...], tuple[int, ...]] = {}

    def unknown(self, variable: "Variable") -> Unknown:
        inputs = variable.dependencies
        if inputs is None or not (self.listed or variable.index in self.states):
            return Unknown(variable.index, None)
        if variable.index in self.states:
            return Unknown(variable.index, tuple(sorted({*inputs, variable.index})))
        if inputs not in self.lists:
            self.lists[inputs] = tuple(sorted(self.states.union(inputs)))
        return Unknown(variable.index, self.lists[inputs])
