"""Force laws: pieces of polynomials on a joint's mode or in a spring (core/forces/laws.c)."""

import math
from collections.abc import Callable

import numpy as np

from fmumbs.compiler.links import Links
from fmumbs.mechanism import Model, Spring

_UNBOUNDED = 1e300  # stands for infinity in the image


def add_laws(out: Links, model: Model, put: Callable[[str], int]) -> None:
    """Adds the model's force laws; put: stores a text. Raises ModelError for a law on a cut joint."""
    springs = {spring.name: index for index, spring in enumerate(model.springs)}
    pieces = 0
    for law in model.laws:
        p = u = spring = -1
        if isinstance(law.on, Spring):
            spring = springs[law.on.name]
        else:
            joint = out.in_tree(law.on, f"{law.title} acts on")
            p = out.rows["joint_p"][joint] + law.mode - 1
            u = out.rows["joint_u"][joint] + law.mode - 1
        controls = out.rows.setdefault("control_start", [])
        out.add(law_name=put(law.name), law_scale=law.scale, law_breakaway=law.breakaway)
        out.add(law_scaled=len(controls) if law.scaled else -1, law_gear=-1, law_cylinder=-1)
        out.add(law_hard=int(law.hard), law_restitution=getattr(law, "restitution", None) or 0.0)
        controls += [1.0] * law.scaled
        out.add(law_p=p, law_u=u, law_spring=spring, law_side=-1, law_first=pieces, law_count=len(law.pieces))
        pieces += len(law.pieces)
        for piece in law.pieces:
            bounds = (piece.lower, piece.upper, piece.v_lower, piece.v_upper)
            finite = [math.copysign(_UNBOUNDED, bound) if math.isinf(bound) else bound for bound in bounds]
            out.add(law_range=[*finite, piece.origin], law_polynomial=np.asarray(piece.coefficients).reshape(-1))
