"""Start values by the names of variables: of declared inputs, and those given to an export."""

from collections.abc import Mapping, Sequence

import numpy as np

from fmumbs import _checks, _limits
from fmumbs.compiler.excitations import BY_PATH, BY_POSITION
from fmumbs.compiler.kinds import BODY, JOINT, OWNERS, kinds, parameter_places
from fmumbs.compiler.layout import Arrays, lib
from fmumbs.compiler.links import JOINT_FREE, JOINT_NONHOLONOMIC, JOINT_SPHERICAL
from fmumbs.compiler.names import Names, Place
from fmumbs.compiler.variables import Variables
from fmumbs.errors import ModelError
from fmumbs.mechanism import Model

Start = float | Sequence[float]
Slot = tuple[str, list[int]]  # an array of the image, and where in it, counted through its columns


def set_starts(model: Model, names: Names, arrays: Arrays, starts: Mapping[str, Start]) -> None:
    """Writes start values into the arrays of an image that is being made: of declared inputs, then `starts`.

    starts: by names of inputs, parameters and states, or of declared variables; a vector takes as many numbers as it
    has.
    Where a filtered mode starts, `eta`, is also where its target `eta_in` starts, unless that is given too.
    Raises ModelError for a name that does not exist, for what is computed, and for numbers that do not fit.
    """
    targets = {variable.name: variable.target for variable in model.declared}
    given = {variable.target: variable.start for variable in model.declared if variable.start is not None}
    written: list[tuple[Place, float]] = []
    chosen = _checks.mapping(starts, f"Model '{model.name}': starts", "Give {'A.q': 0.1}.")
    for name, value in (*given.items(), *chosen.items()):
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


def ask_if_degrees(name: str, variables: Variables, values: Mapping[str, object]) -> None:
    """Warns with a StartWarning of numbers for angles that look like degrees. name: of the model; values: by names."""
    for which, value in values.items():
        if not isinstance(value, int | float) or not _checks.looks_like_degrees(value):
            continue
        if "rad" in variables.units(variables.references(which)):
            _checks.ask_if_degrees(value, f"'{name}': {which}")


def _follow_starts(arrays: Arrays, written: Sequence[tuple[Place, float]]) -> None:
    """What a filtered mode is to follow starts where the mode starts, unless its start is given as well."""
    first, targets = arrays["joint_excitation"], []
    for place, _ in written:
        if place.kind == lib.FM_J_ETA_IN:
            targets.append(int(first[place.element]) + max(place.component, 0))
    for place, number in written:
        excitation = int(first[place.element]) + max(place.component, 0) if kinds()[place.kind].owner == JOINT else -1
        if place.kind != lib.FM_J_ETA or excitation in targets:
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
    """Where the start value is; None for what is computed."""
    kind, element, part = kinds()[place.kind], place.element, max(place.component, 0)
    if kind.owner == JOINT:
        return _slot_of_joint(arrays, place)
    if kind.place in (lib.FM_AT_MODAL_POSITION, lib.FM_AT_MODAL_SPEED):
        letter = "p" if kind.place == lib.FM_AT_MODAL_POSITION else "u"
        return f"start_{letter}", [int(arrays[f"link_{letter}"][arrays["body_link"][element]]) + part]
    if kind.place == lib.FM_AT_PARAMETER:
        column, first, columns = parameter_places()[place.kind]
        return column, [first + element * columns + part]
    if kind.place in (lib.FM_AT_LOAD_FORCE, lib.FM_AT_LOAD_TORQUE):
        return f"load_{kind.suffix}", [3 * element + part]
    if kind.place == lib.FM_AT_BRISTLE:
        return "start_z", [int(arrays["friction_z"][element]) + part]
    if kind.place == lib.FM_AT_OWN_STATE:
        column = "turn" if place.kind == lib.FM_CT_TURN else "state"
        first = int(arrays[f"{OWNERS[kind.owner]}_{column}"][element])
        return "start_z", [first + int(lib.fm_kind_own_state(place.kind)) + part]
    if kind.place == lib.FM_AT_CONTROL:
        of = {lib.FM_HAVE_PRESSED: "pressed", lib.FM_HAVE_SCALED: "scaled"}
        what = of.get(kind.elements, kind.suffix)
        return "control_start", [int(arrays[f"{OWNERS[kind.owner]}_{what}"][element])]
    return None


def _slot_of_joint(arrays: Arrays, place: Place) -> Slot | None:
    kind, joint, part = kinds()[place.kind], place.element, max(place.component, 0)
    p, u = int(arrays["joint_p"][joint]), int(arrays["joint_u"][joint])
    if kind.excited:
        return _slot_of_excited(arrays, place)
    turning = kind.elements in (lib.FM_HAVE_TORQUED, lib.FM_HAVE_TURNING)
    behind = 3 if turning and arrays["joint_kind"][joint] == JOINT_FREE else 0
    if kind.place == lib.FM_AT_TAU:
        return "start_tau", [u + part + behind]
    if kind.place == lib.FM_AT_PARAMETER:
        column, _, _ = parameter_places()[place.kind]
        if arrays["joint_kind"][joint] == JOINT_NONHOLONOMIC:
            general = int(arrays["link_general"][arrays["joint_first"][joint]])
            first, count = (int(arrays[f"general_{what}"][general]) for what in ("screw", "screws"))
            free = first + np.flatnonzero(arrays["screw_excited"][first : first + count] == 0)
            return f"screw_{column}", [int(free[part])]
        couplings, beside = int(arrays["joint_couplings"][joint]), part - int(arrays["joint_nu"][joint])
        if couplings and beside >= 0:
            return f"coupled_{column}", [int(arrays["joint_coupled"][joint]) + beside]
        ball = arrays["joint_kind"][joint] == JOINT_SPHERICAL and not couplings
        return column, list(range(u, u + 3)) if ball else [u + part]
    if arrays["joint_first"][joint] < 0:
        return None
    if kind.place in (lib.FM_AT_POSITION, lib.FM_AT_QUATERNION):
        return "start_p", [p + part + behind]
    return ("start_u", [u + part + behind]) if kind.place == lib.FM_AT_SPEED else None


def _slot_of_excited(arrays: Arrays, place: Place) -> Slot | None:
    kind = kinds()[place.kind]
    excitation = int(arrays["joint_excitation"][place.element]) + max(place.component, 0)
    column = {lib.FM_AT_EXCITED: "start_p", lib.FM_AT_SPEED: "start_u", lib.FM_AT_TAU: "start_tau"}.get(kind.place)
    if column is None or (kind.state and arrays["excitation_kind"][excitation] == BY_PATH):
        return None
    return column, [int(arrays["excitation_p" if column == "start_p" else "excitation_u"][excitation])]


def _mark_given(arrays: Arrays, place: Place, column: str) -> None:
    """What an export gives counts as given."""
    kind, part = kinds()[place.kind], max(place.component, 0)
    given = arrays["given_p" if column == "start_p" else "given_u"]
    if kind.owner == BODY:
        given[int(arrays["link_u"][arrays["body_link"][place.element]]) + part] = 1
    elif not kind.excited:
        first = int(arrays["joint_u"][place.element])
        count = int(arrays["joint_nu"][place.element] - arrays["joint_excited"][place.element])
        if arrays["joint_kind"][place.element] == JOINT_FREE and kind.elements == lib.FM_HAVE_TURNING:
            first, count = first + 3, 3
        if kind.quaternion or arrays["joint_kind"][place.element] == JOINT_NONHOLONOMIC:
            given[first : first + count] = 1
        else:
            given[first + part] = 1
