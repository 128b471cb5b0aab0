"""Start values by the names of variables: of declared inputs, and those given to an export."""

from collections.abc import Mapping, Sequence

import numpy as np

from fmumbs import _checks, _limits
from fmumbs.compiler.excitations import BY_PATH, BY_POSITION
from fmumbs.compiler.kinds import BODY, JOINT, MODEL, OWNERS, kinds
from fmumbs.compiler.layout import Arrays, lib
from fmumbs.compiler.links import JOINT_FREE, JOINT_NONHOLONOMIC, JOINT_SPHERICAL
from fmumbs.compiler.names import Names, Place
from fmumbs.errors import ModelError
from fmumbs.mechanism import Model

Start = float | Sequence[float]
Slot = tuple[str, list[int]]  # an array of the image, and where in it, counted through its columns

_OPTIONS = {
    "solver.scheme": ("options", lib.FM_OPTION_SCHEME), "solver.step": ("options", lib.FM_OPTION_STEP),
    "solver.tolerance": ("options", lib.FM_OPTION_TOLERANCE),
    "solver.deformation": ("options", lib.FM_OPTION_DEFORMATION),
    "solver.equilibrium": ("options", lib.FM_OPTION_EQUILIBRIUM),
    "solver.correction": ("closure", lib.FM_CLOSURE_CORRECTION),
    "solver.closure": ("closure", lib.FM_CLOSURE_TOLERANCE), "solver.baumgarte": ("closure", lib.FM_CLOSURE_ALPHA),
}  # fmt: skip


def set_starts(model: Model, names: Names, arrays: Arrays, starts: Mapping[str, Start]) -> None:
    """Writes start values into the arrays of an image that is being made: of declared inputs, then `starts`.

    starts: by names of inputs, parameters and states, or of declared signals; a vector takes as many numbers as it has.
    Where a filtered mode starts, `eta`, is also where its target `eta_in` starts, unless that is given too.
    Raises ModelError for a name that does not exist, for what is computed, and for numbers that do not fit.
    """
    targets = {signal.name: signal.target for signal in model.signals}
    given = {signal.target: signal.start for signal in model.signals if signal.start is not None}
    written: list[tuple[Place, float]] = []
    for name, value in (*given.items(), *starts.items()):
        places = names.places(targets.get(name, name))
        if not places:
            raise ModelError(f"Model '{model.name}' has no variable '{name}' to start. {names.nearest(name)}")
        where = f"Model '{model.name}': the start of '{name}'"
        values = [value] if isinstance(value, int | float) else value
        numbers = _checks.numbers(values, len(places), where)
        for place, number in zip(places, numbers, strict=True):
            _write(arrays, place, number, where)
            written.append((place, number))
    _follow_starts(arrays, written)


def _follow_starts(arrays: Arrays, written: Sequence[tuple[Place, float]]) -> None:
    """What a filtered mode is to follow starts where the mode starts, unless its start is given as well."""
    first, targets = arrays["joint_excitation"], []
    for place, _ in written:
        if kinds()[place.kind].suffix == "eta_in":
            targets.append(int(first[place.element]) + max(place.component, 0))
    for place, number in written:
        excitation = int(first[place.element]) + max(place.component, 0) if kinds()[place.kind].owner == JOINT else -1
        if kinds()[place.kind].suffix != "eta" or excitation in targets:
            continue
        if arrays["excitation_kind"][excitation] == BY_POSITION:
            arrays["start_tau"][arrays["excitation_u"][excitation]] = number


def _write(arrays: Arrays, place: Place, number: float, where: str) -> None:
    slot = _slot(arrays, place)
    if slot is None:
        raise ModelError(f"{where} is {number:g}, but it is computed. Start an input, a state or a parameter.")
    column, indices = slot
    beside = column.startswith("coupled_") or (column == "inertia" and place.component >= 3)
    rule, fix = _limits.out_of_bounds(place.kind, number, diagonal=not beside)
    if rule:
        raise ModelError(f"{where} is {number:g}, but {rule}. {fix}.")
    arrays[column].reshape(-1)[indices] = number
    if column in ("start_p", "start_u"):
        _mark_given(arrays, place, column)


def _slot(arrays: Arrays, place: Place) -> Slot | None:
    kind, element, part = kinds()[place.kind], place.element, max(place.component, 0)
    if kind.owner == JOINT:
        return _slot_of_joint(arrays, place)
    if kind.owner == MODEL and kind.suffix in _OPTIONS:
        column, first = _OPTIONS[kind.suffix]
        return column, [first + part]
    if kind.owner == BODY and kind.suffix in ("q", "qd"):
        link = arrays["body_link"][element]
        column, of_link = ("start_p", "link_p") if kind.suffix == "q" else ("start_u", "link_u")
        return column, [int(arrays[of_link][link]) + part]
    columns = (f"{OWNERS.get(kind.owner, '')}_{kind.suffix}", kind.suffix)
    # such as spring_stiffness, load_force; mass, gravity
    found = next((column for column in columns if column in arrays), None)
    if found is None or kind.causality not in ("parameter", "input"):
        return None
    return found, [element * (arrays[found].size // len(arrays[found]) if arrays[found].ndim > 1 else 1) + part]


def _slot_of_joint(arrays: Arrays, place: Place) -> Slot | None:
    kind, joint, part = kinds()[place.kind], place.element, max(place.component, 0)
    p, u = int(arrays["joint_p"][joint]), int(arrays["joint_u"][joint])
    behind = 3 if arrays["joint_kind"][joint] == JOINT_FREE else 0
    if kind.suffix in ("eta", "kappa", "eta_in") or (kind.suffix == "kappa_dot" and kind.causality == "input"):
        excitation = int(arrays["joint_excitation"][joint]) + part
        at_p, at_u = (int(arrays[f"excitation_{c}"][excitation]) for c in "pu")
        if kind.suffix in ("eta", "kappa") and arrays["excitation_kind"][excitation] == BY_PATH:
            return None
        return {"eta": ("start_p", [at_p]), "kappa": ("start_u", [at_u])}.get(kind.suffix, ("start_tau", [at_u]))
    if kind.suffix in ("tau", "f"):
        return "start_tau", [u + part + (behind if kind.suffix == "tau" else 0)]
    if kind.suffix in ("stiffness", "damping", "rest", "rotor_inertia"):
        if arrays["joint_kind"][joint] == JOINT_NONHOLONOMIC:
            general = int(arrays["link_general"][arrays["joint_first"][joint]])
            first, count = (int(arrays[f"general_{what}"][general]) for what in ("screw", "screws"))
            free = first + np.flatnonzero(arrays["screw_excited"][first : first + count] == 0)
            return f"screw_{kind.suffix}", [int(free[part])]
        couplings, beside = int(arrays["joint_couplings"][joint]), part - int(arrays["joint_nu"][joint])
        if couplings and beside >= 0:
            return f"coupled_{kind.suffix}", [int(arrays["joint_coupled"][joint]) + beside]
        ball = arrays["joint_kind"][joint] == JOINT_SPHERICAL and not couplings
        return kind.suffix, list(range(u, u + 3)) if ball else [u + part]
    if arrays["joint_first"][joint] < 0 or kind.causality != "output":
        return None
    if kind.suffix in ("q", "r"):
        return "start_p", [p + part + (behind if kind.quaternion else 0)]
    if kind.suffix in ("qd", "v", "w", "u"):
        return "start_u", [u + part + (behind if kind.suffix == "w" else 0)]
    return None


def _mark_given(arrays: Arrays, place: Place, column: str) -> None:
    """What an export gives counts as given."""
    kind, part = kinds()[place.kind], max(place.component, 0)
    given = arrays["given_p" if column == "start_p" else "given_u"]
    if kind.owner == BODY:
        given[int(arrays["link_u"][arrays["body_link"][place.element]]) + part] = 1
    elif kind.suffix not in ("eta", "kappa"):
        first = int(arrays["joint_u"][place.element])
        count = int(arrays["joint_nu"][place.element] - arrays["joint_excited"][place.element])
        if arrays["joint_kind"][place.element] == JOINT_FREE and (kind.quaternion or kind.suffix == "w"):
            first, count = first + 3, 3
        if kind.quaternion or arrays["joint_kind"][place.element] == JOINT_NONHOLONOMIC:
            given[first : first + count] = 1
        else:
            given[first + part] = 1
