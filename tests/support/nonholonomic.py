"""Random joints whose velocities are restricted by rows, for hypothesis."""

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st

import fmumbs as fm
from oracle.products import Product
from support.strategies import SPREAD, axes, points, vectors


@st.composite
def nonholonomic(draw: st.DrawFn) -> fm.Model:
    """A free body that carries another by modes of every role and random rows of velocities."""
    roles = draw(
        st.permutations(["free", "free", *draw(st.lists(st.sampled_from(("free", "excited", "locked")), max_size=3))])
    )
    motions = {
        "free": {},
        "locked": {"role": "locked", "value": 0.4},
        "excited": {"role": "excited", "input": "kappa_dot", "eta0": 0.3, "kappa0": -0.7},
    }
    modes = [draw(st.sampled_from((fm.Turn, fm.Slide)))(draw(axes()), **motions[role]) for role in roles]
    free = roles.count("free")
    forbidden = draw(st.integers(1, free - 1))
    rows = [draw(vectors(6)) for _ in range(free)]
    model = fm.Model("pair")
    a = fm.Body("a", mass=1.1, com=(0.1, 0.2, -0.3), inertia=(0.4, 0.5, 0.6))
    b = fm.Body("b", mass=0.9, com=(0.2, -0.1, 0.3), inertia=(0.3, 0.5, 0.45))
    carrier = fm.Free("A", model.ground.at(), a.at(), q0=(0, 0, 0, 0.8, 0.1, 0.2, 0.5), u0=(1, -1, 0.5, 0.7, -2, 1))
    try:
        joint = fm.Joint(
            "J", draw(points(a)), draw(points(b)), modes=modes, rows_after=draw(st.integers(0, len(modes))),
            velocity_rows=rows[:forbidden], speed_rows=rows[forbidden:],
            q0=draw(vectors(free)), u0=draw(vectors(free - forbidden, 2.0)),
        )  # fmt: skip
    except fm.ModelError:
        assume(False)
    product = Product(joint, (), ())
    s = np.array(joint.all_positions(), float)
    columns = product.columns(s)
    assume(np.linalg.svd(np.hstack(columns), compute_uv=False)[-1] > SPREAD)
    assume(np.linalg.svd(product.rows() @ product.in_axes(s) @ columns[0], compute_uv=False)[-1] > SPREAD)
    model.add(a, b, carrier, joint)
    return model
