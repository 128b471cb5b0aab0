"""Couplings of joint coordinates: one constraint row each, with its terms by the links that they move."""

from fmumbs.compiler.constraint_rows import COUPLED, NO_VECTOR
from fmumbs.compiler.excitations import add_path
from fmumbs.compiler.links import Links
from fmumbs.mechanism import Cam, Model


def add_couplings(out: Links, model: Model) -> None:
    """Adds the model's couplings. Raises ModelError for a coupled joint that closes a loop."""
    terms = 0
    for index, coupling in enumerate((*model.couplings, *model.locks)):
        for joint, mode, ratio in coupling.coordinates:
            row = out.in_tree(joint, f"{coupling.title} couples")
            out.add(term_link=link_of(out, row, mode), term_ratio=ratio, term_path=-1)
        count = len(coupling.coordinates)
        out.add(coupling_first=terms, coupling_count=count)
        cam = coupling if isinstance(coupling, Cam) else None
        if cam:
            out.rows["term_path"][-1] = add_path(out, cam.path)
        out.add(coupling_phase=cam.phase if cam else 0.0, coupling_offset=cam.offset if cam else 0.0)
        out.add(coupling_scale=cam.scale if cam else 1.0)
        out.add(row_kind=COUPLED, row_f=NO_VECTOR, row_g=NO_VECTOR, row_length=coupling.constant)
        out.add(row_joint=out.joints[coupling.coordinates[0][0].name], row_part=coupling.level, row_coupling=index)
        terms += count


def link_of(out: Links, joint: int, mode: int) -> int:
    """The link that a joint's mode moves; modes are numbered from 1, free modes before excited ones, as variables are.

    The links of a joint that points towards the ground are in the reverse order.
    """
    links = range(out.rows["joint_first"][joint], out.rows["joint_last"][joint] + 1)
    u = out.rows["joint_u"][joint] + mode - 1
    return next(link for link in links if out.rows["link_u"][link] == u)
