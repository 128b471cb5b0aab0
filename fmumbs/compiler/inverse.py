"""Images that ask for inverse dynamics: the motion of the tree is an input, the forces that it takes are outputs.

Such an image is that of the mechanism with another table of variables (core/image/variables.h). Positions, velocities
and accelerations of joints, excited modes and flexible bodies have the names of the states, inputs of forces become
outputs of the same name; those of cut joints, which carry springs alone here, remain. There are no states, no steps of
integration, and no options of these.
"""

from __future__ import annotations

import numpy as np

from fmumbs.compiler.image import ModelImage
from fmumbs.compiler.kinds import JOINT, Kind, all_variables, kind_columns, kinds
from fmumbs.compiler.layout import lib, pack
from fmumbs.errors import ModelError


def inverse_image(image: ModelImage) -> ModelImage:
    """The image of the same mechanism with its motion given. Raises ModelError for a mechanism without that."""
    if image.sizes["rows"]:
        raise ModelError(
            f"Model '{image.name}' has loops, couplings or programs, for which there is no FMU of inverse dynamics. "
            "Use fm.inverse_dynamics() with actuated=, or leave them out."
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
    replaced = np.isin(kind, [kind.index for kind in kinds() if _is_replaced(kind)])
    chosen = np.where(cut, ~columns.of_inverse[kind], ~replaced)  # of a cut joint all that moves follows from the tree
    arrays = image.arrays | {name: column[chosen] for name, column in table.items()}
    return ModelImage(pack(image.sizes | {"variables": int(chosen.sum())}, arrays))


def _is_listed(kind: Kind) -> bool:
    """Whether a kind may be a variable of inverse dynamics: nothing that is for integration."""
    bristles = kind.place == lib.FM_AT_BRISTLE
    counts = kind.causality == "output" and kind.type == "integer"
    return not (bristles or counts or (kind.of_solver and kind.causality == "parameter"))


def _is_replaced(kind: Kind) -> bool:
    """Whether kinds of inverse dynamics stand in place of an ordinary one."""
    motion = kind.state or kind.place in (lib.FM_AT_ACCELERATION, lib.FM_AT_MODAL_ACCELERATION)
    return not kind.of_inverse and (motion or kind.place == lib.FM_AT_TAU or kind.index == lib.FM_J_DRIVE)


def asks_for_inverse(image: ModelImage) -> bool:
    """Whether the motion of an image is given."""
    return bool(kind_columns().of_inverse[image.arrays["variable_kind"]].any())
