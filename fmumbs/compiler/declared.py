"""Declared signals: the variables that a model shows under names of its own, beside the solver's."""

from collections.abc import Callable

import numpy as np

from fmumbs.compiler.kinds import kinds, variable_table
from fmumbs.compiler.layout import Arrays
from fmumbs.compiler.names import Names, Place, by_name
from fmumbs.compiler.variables import Variables
from fmumbs.errors import ModelError
from fmumbs.mechanism import Model
from fmumbs.mechanism.signals import Signal

_OF_THE_KIND = -1  # as a name in the table of variables


def declared_variables(model: Model, names: Names, put_text: Callable[[str], int]) -> Arrays:
    """The table of the model's signals and the solver's variables, in the order of the table with everything.

    names: of the model's elements. put_text: stores a text, returns its offset. Raises ModelError for a signal of a
    variable that does not exist or has another causality, and for two signals of one name or of one input.
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
    rows = [(*place, put_text(name)) for place, _, name in chosen] + [(*place, _OF_THE_KIND) for place in own]
    rows.sort(key=lambda row: row[:3])
    return variable_table(*np.array(rows, np.int32).T)


def signal_references(model: Model, variables: Variables) -> dict[str, tuple[list[int], bool]]:
    """Value references by the names of the model's signals and of their components, in an image with everything.

    Each with whether the name means one number, not a vector.

    Raises ModelError for a signal of a variable that does not exist or has another causality.
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
    causality = "output" if causality == "local" else causality  # a constant is shown as one
    if causality != signal.causality:
        article = "an" if causality[0] in "aeiou" else "a"
        raise ModelError(
            f"Model '{model.name}': '{signal.target}' is {article} {causality}, but '{signal.name}' declares it as "
            f"{signal.causality}. Use model.{causality}()."
        )
    return places


def _check_names(model: Model, chosen: list[tuple[Place, Signal, str]], own: set[str]) -> None:
    """No two variables have one name."""
    owners: dict[str, str] = dict.fromkeys(own, "the solver")
    for _, signal, name in chosen:
        other = owners.setdefault(name, f"'{signal.target}'")
        if other != f"'{signal.target}'":
            raise ModelError(
                f"Model '{model.name}': two variables would be called '{name}', of {other} and of '{signal.target}'. "
                f"Rename the {signal.causality} '{signal.name}'."
            )


def _check_settable(model: Model, chosen: list[tuple[Place, Signal, str]]) -> None:
    """No two signals set one variable."""
    setters: dict[Place, Signal] = {}
    for place, signal, _ in chosen:
        other = setters.setdefault(place, signal)
        if other is not signal and signal.causality != "output":
            raise ModelError(
                f"Model '{model.name}': {signal.causality} '{signal.name}' of '{signal.target}' sets what "
                f"'{other.name}' of '{other.target}' sets already. Remove one of them."
            )
