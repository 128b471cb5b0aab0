"""Declared variables: those that a model exposes under its own names, besides the solver's."""

from collections.abc import Callable

import numpy as np

from fmumbs.compiler.kinds import kinds, variable_table
from fmumbs.compiler.layout import Arrays
from fmumbs.compiler.names import Names, Place, by_name
from fmumbs.compiler.variables import Variables
from fmumbs.errors import ModelError
from fmumbs.mechanism import Model
from fmumbs.mechanism.declared import DeclaredVariable

_STRUCTURED = -1  # name in the table of variables: the structured one


def declared_variables(model: Model, names: Names, put_text: Callable[[str], int]) -> Arrays:
    """The table of the declared variables and the solver's, in the order of the table of all variables.

    names: of the model's elements. put_text: stores a text, returns its offset. Raises ModelError for a target
    that does not exist or has another causality, and for two declared variables with one name or one input.
    """
    chosen: list[tuple[Place, DeclaredVariable, str]] = []
    for declared in model.declared:
        places = _places(model, names, declared)
        chosen += [(place, declared, name) for place, name in zip(places, _called(declared, len(places)), strict=True)]
    taken = {place for place, _, _ in chosen}
    own = [place for kind in kinds() if kind.of_solver for place in names.places(kind.suffix)]
    own = [place for place in own if place not in taken]
    _check_names(model, chosen, {names.name(*place) for place in own})
    _check_settable(model, chosen)
    rows = [(*place, put_text(name)) for place, _, name in chosen] + [(*place, _STRUCTURED) for place in own]
    rows.sort(key=lambda row: row[:3])
    return variable_table(*np.array(rows, np.int32).T)


def declared_references(model: Model, variables: Variables) -> dict[str, tuple[list[int], bool]]:
    """Value references in an image of all variables, and whether the name is a scalar, by declared names
    and those of their components. Raises ModelError for a target that does not exist or has another causality.
    """
    named: list[tuple[str, int]] = []
    for declared in model.declared:
        _places(model, variables.structured, declared)
        found = variables.references(declared.target)
        named += zip(_called(declared, len(found)), found, strict=True)
    whole = dict(named)
    return {name: (found, name in whole) for name, found in by_name(named).items()}


def _called(declared: DeclaredVariable, count: int) -> list[str]:
    """The names of its components."""
    return [declared.name] if count == 1 else [f"{declared.name}[{i + 1}]" for i in range(count)]


def _places(model: Model, names: Names, declared: DeclaredVariable) -> list[Place]:
    places = names.places(declared.target)
    if not places:
        raise ModelError(
            f"Model '{model.name}': {declared.causality} '{declared.name}' names '{declared.target}', which does not "
            f"exist. {names.nearest(declared.target)}"
        )
    causality = kinds()[places[0].kind].causality
    causality = "output" if causality == "local" else causality  # a constant is declared as an output
    if causality != declared.causality:
        article = "an" if causality[0] in "aeiou" else "a"
        raise ModelError(
            f"Model '{model.name}': '{declared.target}' is {article} {causality}, but '{declared.name}' declares it as "
            f"{declared.causality}. Use model.{causality}()."
        )
    return places


def _check_names(model: Model, chosen: list[tuple[Place, DeclaredVariable, str]], own: set[str]) -> None:
    """Raises ModelError if two variables have the same name."""
    owners: dict[str, str] = dict.fromkeys(own, "the solver")
    for _, declared, name in chosen:
        other = owners.setdefault(name, f"'{declared.target}'")
        if other != f"'{declared.target}'":
            raise ModelError(
                f"Model '{model.name}': two variables have the name '{name}', {other} and '{declared.target}'. "
                f"Rename the {declared.causality} '{declared.name}'."
            )


def _check_settable(model: Model, chosen: list[tuple[Place, DeclaredVariable, str]]) -> None:
    """Raises ModelError if two declared variables set the same one."""
    setters: dict[Place, DeclaredVariable] = {}
    for place, declared, _ in chosen:
        other = setters.setdefault(place, declared)
        if other is not declared and declared.causality != "output":
            raise ModelError(
                f"Model '{model.name}': {declared.causality} '{declared.name}' of '{declared.target}' sets the same "
                f"variable as '{other.name}' of '{other.target}'. Remove one of them."
            )
