"""Declared signals: variables that a model exposes under its own names, besides the solver's."""

from collections.abc import Callable

import numpy as np

from fmumbs.compiler.kinds import kinds, variable_table
from fmumbs.compiler.layout import Arrays
from fmumbs.compiler.names import Names, Place, by_name
from fmumbs.compiler.variables import Variables
from fmumbs.errors import ModelError
from fmumbs.mechanism import Model
from fmumbs.mechanism.signals import Signal

_STRUCTURED = -1  # name in the table of variables: the structured one


def declared_variables(model: Model, names: Names, put_text: Callable[[str], int]) -> Arrays:
    """The table of the model's signals and the solver's variables, in the order of the table of all variables.

    names: of the model's elements. put_text: stores a text, returns its offset. Raises ModelError for a signal whose
    variable does not exist or has another causality, and for two signals with one name or one input.
    """
    chosen: list[tuple[Place, Signal, str]] = []
    for signal in model.signals:
        places = _places(model, names, signal)
        chosen += [(place, signal, name) for place, name in zip(places, _called(signal, len(places)), strict=True)]
    taken = {place for place, _, _ in chosen}
    own = [place for kind in kinds() if kind.of_solver for place in names.places(kind.suffix)]
    own = [place for place in own if place not in taken]
    _check_names(model, chosen, {names.name(*place) for place in own})
    _check_settable(model, chosen)
    rows = [(*place, put_text(name)) for place, _, name in chosen] + [(*place, _STRUCTURED) for place in own]
    rows.sort(key=lambda row: row[:3])
    return variable_table(*np.array(rows, np.int32).T)


def signal_references(model: Model, variables: Variables) -> dict[str, tuple[list[int], bool]]:
    """Value references in an image of all variables, and whether the name is a scalar, by names of signals and of
    their components. Raises ModelError for a signal whose variable does not exist or has another causality.
    """
    named: list[tuple[str, int]] = []
    for signal in model.signals:
        _places(model, variables.structured, signal)
        found = variables.references(signal.target)
        named += zip(_called(signal, len(found)), found, strict=True)
    whole = dict(named)
    return {name: (found, name in whole) for name, found in by_name(named).items()}


def _called(signal: Signal, count: int) -> list[str]:
    """The names of a signal's components."""
    return [signal.name] if count == 1 else [f"{signal.name}[{i + 1}]" for i in range(count)]


def _places(model: Model, names: Names, signal: Signal) -> list[Place]:
    places = names.places(signal.target)
    if not places:
        raise ModelError(
            f"Model '{model.name}': {signal.causality} '{signal.name}' names '{signal.target}', which does not exist. "
            f"{names.nearest(signal.target)}"
        )
    causality = kinds()[places[0].kind].causality
    causality = "output" if causality == "local" else causality  # a constant is declared as an output
    if causality != signal.causality:
        article = "an" if causality[0] in "aeiou" else "a"
        raise ModelError(
            f"Model '{model.name}': '{signal.target}' is {article} {causality}, but '{signal.name}' declares it as "
            f"{signal.causality}. Use model.{causality}()."
        )
    return places


def _check_names(model: Model, chosen: list[tuple[Place, Signal, str]], own: set[str]) -> None:
    """Raises ModelError if two variables have the same name."""
    owners: dict[str, str] = dict.fromkeys(own, "the solver")
    for _, signal, name in chosen:
        other = owners.setdefault(name, f"'{signal.target}'")
        if other != f"'{signal.target}'":
            raise ModelError(
                f"Model '{model.name}': two variables have the name '{name}', {other} and '{signal.target}'. "
                f"Rename the {signal.causality} '{signal.name}'."
            )


def _check_settable(model: Model, chosen: list[tuple[Place, Signal, str]]) -> None:
    """Raises ModelError if two signals set the same variable."""
    setters: dict[Place, Signal] = {}
    for place, signal, _ in chosen:
        other = setters.setdefault(place, signal)
        if other is not signal and signal.causality != "output":
            raise ModelError(
                f"Model '{model.name}': {signal.causality} '{signal.name}' of '{signal.target}' sets the same variable "
                f"as '{other.name}' of '{other.target}'. Remove one of them."
            )
