"""Images that ask for inverse dynamics: the motion of the tree is an input, the forces that it takes are outputs.

Such an image is that of the mechanism with another table of variables (core/image/variables.h). Positions, velocities
and accelerations of joints, excited modes and flexible bodies have the names of the states; those of cut joints remain.
Inputs of forces become outputs of the same name: all joints' of a tree, or those of actuators alone. There are no
states, no steps of integration, and no options of these.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from fmumbs._checks import names as checked_names
from fmumbs.compiler.image import ModelImage
from fmumbs.compiler.kinds import JOINT, LOAD, Kind, all_variables, kind_columns, kinds
from fmumbs.compiler.layout import Arrays, lib, pack
from fmumbs.errors import ModelError

FORCES = (lib.FM_AT_TAU, lib.FM_AT_LOAD_FORCE, lib.FM_AT_LOAD_TORQUE)


def inverse_image(image: ModelImage, actuated: Sequence[str] | None = None) -> ModelImage:
    """The image of the same mechanism with its motion given.

    actuated: inputs of forces that make the motion, such as ["A.tau", "push.force[1]"]; None: all joints, of a tree.

    Raises ModelError for a mechanism or an actuator without that.
    """
    if (image.arrays["excitation_row"] >= 0).any():
        raise ModelError(
            f"Model '{image.name}' has programs, whose drives exert the forces of their motion already. Read 'P.drive' "
            "of a simulation, or leave the programs out."
        )
    if actuated is None and image.sizes["rows"]:
        raise ModelError(
            f"Model '{image.name}' has loops or couplings, in which the forces of a motion depend on who exerts them. "
            "Name the inputs that do, as many as it has degrees of freedom, such as actuated=['J.tau']."
        )
    if image.arrays["friction_own"].any():
        raise ModelError(
            f"Model '{image.name}' has friction that the reaction of its own joint loads, which has no inverse "
            "dynamics: give it a normal force."
        )
    table = all_variables(image.arrays, [kind for kind in kinds() if _is_listed(kind)])
    kind, columns = table["variable_kind"], kind_columns()
    joint, element = columns.owner[kind] == JOINT, table["variable_object"]
    cut = joint & (image.arrays["joint_first"][np.where(joint, element, 0)] < 0)
    replaced = np.isin(kind, [kind.index for kind in kinds() if _is_motion(kind)]) & ~cut
    given = columns.of_inverse[kind] & ~cut  # of a cut joint all that moves follows from the tree
    forces = np.isin(kind, [kind.index for kind in kinds() if _is_force(kind)])
    drives = np.isin(kind, [kind.index for kind in kinds() if kind.owner == JOINT and kind.suffix == "drive"])
    if actuated is None:
        asked = joint & ~cut
    else:
        asked = np.isin(_keys(table), _keys_of(image, actuated))
        given &= ~drives  # what drives exert is then a part of the joint's wrench
        replaced &= ~drives
    shown = np.where(columns.of_inverse[kind], given, ~replaced)
    shown = np.where(forces, np.where(columns.of_inverse[kind], asked, ~asked), shown)
    arrays = image.arrays | {name: column[shown] for name, column in table.items()}
    return ModelImage(pack(image.sizes | {"variables": int(shown.sum())}, arrays))


def actuators(image: ModelImage, name: str) -> list[int]:
    """Value references of an input of a force or its components. Raises ModelError for any other name."""
    found = image.variables.references(name)
    if not found:
        raise ModelError(f"Model '{image.name}' {image.variables.unknown(name)}")
    if any(kinds()[k].place not in FORCES for k in image.arrays["variable_kind"][found]):
        known = [kind.index for kind in kinds() if kind.place == lib.FM_AT_TAU and kind.suffix in ("tau", "f")]
        inputs = image.variables.names(np.flatnonzero(np.isin(image.arrays["variable_kind"], known)))
        example = inputs[0] if inputs else "J.tau"
        raise ModelError(
            f"Model '{image.name}': '{name}' is not the input of a force. Name an input such as '{example}'."
        )
    return found


def _keys_of(image: ModelImage, actuated: Sequence[str]) -> NDArray[np.int64]:
    """Of the actuators. Raises ModelError for one that is named twice, or that has no force."""
    found = [one for name in checked_names(actuated, "actuated") for one in actuators(image, name)]
    if repeated := {one for one in found if found.count(one) > 1}:
        names = ", ".join(f"'{name}'" for name in image.variables.names(sorted(repeated)))
        raise ModelError(f"Model '{image.name}': {names} is twice among {len(found)} actuators. Name each once.")
    return _keys({name: image.arrays[name][found] for name in image.arrays if name.startswith("variable_")})


def _keys(table: Arrays) -> NDArray[np.int64]:
    """(variables,) one number for a force's owner, suffix, element and component."""
    kind = table["variable_kind"]
    stems = [(k.owner, k.suffix) for k in kinds()]
    stem = np.array([stems.index(one) for one in stems])[kind].astype(np.int64)
    return (stem << 40) + (table["variable_object"].astype(np.int64) << 8) + np.maximum(table["variable_component"], 0)


def _is_listed(kind: Kind) -> bool:
    """Whether a kind may be a variable of inverse dynamics: nothing that is for integration."""
    bristles = kind.place in (lib.FM_AT_BRISTLE, lib.FM_AT_OWN_STATE)
    counts = kind.causality == "output" and kind.type == "integer"
    return not (bristles or counts or (kind.of_solver and kind.causality == "parameter"))


def _is_force(kind: Kind) -> bool:
    """The input of a force of a joint or a load, or what stands in its place."""
    return (kind.place in FORCES and not kind.excited) or (
        kind.of_inverse and kind.causality == "output" and kind.owner in (JOINT, LOAD) and not kind.excited
    )


def _is_motion(kind: Kind) -> bool:
    """Whether kinds of inverse dynamics stand in place of an ordinary one that is no force."""
    motion = kind.state or kind.place in (lib.FM_AT_ACCELERATION, lib.FM_AT_MODAL_ACCELERATION)
    excited = kind.excited and (kind.place == lib.FM_AT_TAU or kind.suffix == "drive")
    return not kind.of_inverse and (motion or excited)


def asks_for_inverse(image: ModelImage) -> bool:
    """Whether the motion of an image is given."""
    return bool(kind_columns().of_inverse[image.arrays["variable_kind"]].any())
