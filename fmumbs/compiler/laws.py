"""Force laws: pieces of polynomials on a joint's mode or in a spring (core/forces/laws.c)."""

import math
from collections.abc import Callable

import numpy as np

from fmumbs._limits import LAW_POWERS
from fmumbs.compiler.links import Links
from fmumbs.mechanism import Model, Spring

UNBOUNDED = 1e300  # stands for infinity in the image
NO_FORCE = np.zeros(math.prod(LAW_POWERS))  # a piece of laws that only watch, or whose pieces the core makes
_OF_NOTHING = {f"law_{one}": -1 for one in ("p", "u", "spring", "side", "gear", "cylinder", "motor", "spot", "scaled")}
_PLAIN = _OF_NOTHING | {"law_scale": 1.0, "law_breakaway": 1.0, "law_hard": 0, "law_restitution": 0.0}


def add_law(out: Links, name: int, first: int, count: int, **own: float) -> None:
    """Adds a law with the pieces `first` to first + count - 1; own: its fields beside those of a law on nothing.

    name: where its text is.
    """
    fields = {f"law_{field}": value for field, value in own.items()}
    out.add(**_PLAIN | fields, law_name=name, law_first=first, law_count=count)


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
        add_law(
            out, put(law.name), pieces, len(law.pieces), p=p, u=u, spring=spring, scale=law.scale,
            breakaway=law.breakaway, scaled=len(controls) if law.scaled else -1, hard=int(law.hard),
            restitution=getattr(law, "restitution", None) or 0.0,
        )  # fmt: skip
        controls += [1.0] * law.scaled
        pieces += len(law.pieces)
        for piece in law.pieces:
            bounds = (piece.lower, piece.upper, piece.v_lower, piece.v_upper)
            finite = [math.copysign(UNBOUNDED, bound) if math.isinf(bound) else bound for bound in bounds]
            out.add(law_range=[*finite, piece.origin], law_polynomial=np.asarray(piece.coefficients).reshape(-1))
