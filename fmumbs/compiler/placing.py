"""Positions of an instance's bodies and joints, for the analysis of reactions."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fmumbs.analysis.modes import free_modes, mode_vectors
from fmumbs.analysis.placed import GROUND, Coupled, Flexible, Placed, Term, reciprocal, span_of
from fmumbs.compiler.constraint_rows import ALONG, DISTANCE, PERPENDICULAR, TWISTS
from fmumbs.compiler.drives import jumps
from fmumbs.compiler.kinds import BODY, JOINT, Kind, all_variables, kinds, kinds_called
from fmumbs.compiler.layout import Arrays, ffi, lib, open_where_given, values_of
from fmumbs.mechanism import Closing, Coupling, ForceLaw, JointBase, ModalBody, Model, Point
from fmumbs.spatial import Rotation, cross

Array = NDArray[np.float64]
_Positions = list[list[float]]  # of modes, by joint

_POSE, _PLACE = ("r", "quat", "q"), ("r", "q", "eta")  # variables of bodies, of joints

UNKNOWN = lib.FM_UNIQUENESS_UNKNOWN
NOT_GIVEN, GIVEN, HOLDS = lib.FM_NOT_GIVEN, lib.FM_GIVEN, lib.FM_GIVEN_AND_HOLDS


def unique_at_start(
    bodies: Sequence[str], joints: Sequence[JointBase], couplings: Sequence[Coupling], arrays: Arrays
) -> NDArray[np.int32]:
    """(joints, 6) whether the components f and t of each reaction are unique at the initial position (fm_uniqueness).

    arrays: of the image being made, without its variables; bodies, joints: in their order.
    """
    unknown = np.full((len(joints), 6), UNKNOWN, np.int32)
    arrays = arrays | all_variables(arrays, _kinds(BODY, *_POSE) + _kinds(JOINT, *_PLACE)) | {"joint_unique": unknown}
    instance = open_where_given(arrays)
    if lib.fm_assemble(instance, 0.0) != lib.FM_OK:
        return unknown
    _mark_held(arrays, instance)
    from fmumbs.analysis.uniqueness import uniqueness  # late: trees do not need it

    return uniqueness(placed(bodies, joints, couplings, arrays, instance)).components_unique.astype(np.int32)


def holding(model: Model) -> list[ForceLaw]:
    """The laws on joints whose force jumps against the velocity, so that they can stick."""
    return [law for law in model.laws if isinstance(law.on, JointBase) and jumps(law)]


def _mark_held(arrays: Arrays, instance: Any) -> None:
    """Sets given_p and given_u (fm_given) from the start values that an assembled instance has kept."""
    found = ffi.new("fm_start_change[]", lib.fm_start_changes(instance, ffi.NULL, 0))
    lib.fm_start_changes(instance, found, len(found))
    for column in ("given_p", "given_u"):
        arrays[column][arrays[column] != NOT_GIVEN] = HOLDS
    for one in found:
        arrays["given_u" if one.velocity else "given_p"][one.mode : one.mode + one.modes] = GIVEN


def placed(
    bodies: Sequence[str],
    joints: Sequence[JointBase],
    couplings: Sequence[Coupling],
    arrays: Arrays,
    instance: Any,
    laws: Sequence[ForceLaw] = (),
) -> Placed:
    """An instance at its present position.

    bodies, joints, couplings: in the order of the image; arrays: of the image, whose table has at least all poses.
    """
    R_WB, r_WB = _poses(arrays, instance)
    body_of = _bodies_of_links(arrays)
    F, M = (np.array([body_of[link] for link in arrays[f"joint_{end}_link"].tolist()], np.int64) for end in "FM")
    origin = np.empty((len(joints), 3))
    axes = np.empty((len(joints), 3, 3))
    arms = np.empty((len(joints), 3))
    bent = _bent(arrays, instance)
    flexible: dict[int, Flexible] = {}
    for i, joint in enumerate(joints):
        at_F, axes[i] = _frame(joint.F, R_WB[F[i]], r_WB[F[i]], bent.get(int(F[i])))
        origin[i], _ = _frame(joint.M, R_WB[M[i]], r_WB[M[i]], bent.get(int(M[i])))
        arms[i] = axes[i].T @ (origin[i] - at_F)
        for end, body, at, sign in ((joint.F, int(F[i]), at_F, -1.0), (joint.M, int(M[i]), origin[i], 1.0)):
            if isinstance(end.body, ModalBody):
                one = flexible.setdefault(body, Flexible(end.body.modes, {}))
                one.shapes[i] = sign * _shapes(end, R_WB[body], origin[i] - at, axes[i], bent.get(body))
    # links have the axes that their bodies' frames say
    R_WL = np.concatenate([R_WB[:-1] @ np.swapaxes(arrays["body_R"].reshape(-1, 3, 3), 1, 2), np.eye(3)[None]])
    cut = np.array([isinstance(joint, Closing) for joint in joints])
    coordinates = _coordinates(len(joints), arrays, instance)
    spans = _of_modes(joints, cut, *coordinates)
    for i in np.flatnonzero(cut).tolist():
        spans[i] = _of_rows(i, arrays, instance, axes[i].T @ R_WL[F[i]], axes[i].T @ R_WL[M[i]], arms[i])
    names = tuple(joint.name for joint in joints)
    index = {name: i for i, name in enumerate(names)}
    coupled = tuple(_coupled(coupling, index, *coordinates) for coupling in couplings)
    holding = tuple(_holding(law, index, *coordinates) for law in laws)
    solid = _masses(arrays, R_WB[:-1], r_WB[:-1])
    modal = tuple(flexible.values())
    return Placed(tuple(bodies), names, F, M, origin, axes, tuple(spans), *solid, coupled, modal, holding)


def _bodies_of_links(arrays: Arrays) -> dict[int, int]:
    """The body that each link belongs to."""
    body_of = {link: body for body, link in enumerate(arrays["body_link"].tolist())} | {-1: GROUND}
    for link in arrays["modal_link"].tolist():  # the link that carries a flexible body belongs to the body
        body_of[int(arrays["link_parent"][link])] = body_of[link]
    for link in arrays["frame_link"].tolist():
        body_of[link] = body_of[int(arrays["modal_link"][arrays["link_modal"][link]])]
    return body_of


def _masses(arrays: Arrays, R_WB: NDArray[Any], r_WB: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """(bodies, ...) mass, centre of mass and inertia about it, in world axes."""
    com = r_WB + (R_WB @ arrays["com"][:, :, None])[:, :, 0]
    xx, yy, zz, xy, xz, yz = arrays["inertia"].T
    inertia = np.stack([xx, xy, xz, xy, yy, yz, xz, yz, zz], axis=1).reshape(-1, 3, 3)
    return arrays["mass"], com, R_WB @ inertia @ np.swapaxes(R_WB, 1, 2)


def _kinds(owner: int, *suffixes: str) -> list[Kind]:
    found = [kind for suffix in suffixes for kind in kinds_called(owner, suffix)]
    return [kind for kind in found if kind.causality == "output" and not kind.of_inverse]


def _read(arrays: Arrays, instance: Any, owner: int, *suffixes: str) -> tuple[NDArray[np.int64], Array]:
    """Elements and values of all their variables with these suffixes, in the order of the elements."""
    wanted = np.zeros(len(kinds()), bool)
    wanted[[kind.index for kind in _kinds(owner, *suffixes)]] = True
    found = np.flatnonzero(wanted[arrays["variable_kind"]])
    elements = arrays["variable_object"][found]
    found = found[np.argsort(elements, kind="stable")]
    return arrays["variable_object"][found], values_of(instance, found)


def _poses(arrays: Arrays, instance: Any) -> tuple[Array, Array]:
    """(bodies + 1, 3, 3) axes and (bodies + 1, 3) origins of the bodies, the ground's last."""
    q = _read(arrays, instance, BODY, "quat")[1].reshape(-1, 4)
    r = _read(arrays, instance, BODY, "r")[1].reshape(-1, 3)
    w, x, y, z = (q / np.linalg.norm(q, axis=1)[:, None]).T
    R = np.empty((len(q) + 1, 3, 3))
    R[:-1, 0] = np.stack([1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)], axis=1)
    R[:-1, 1] = np.stack([2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)], axis=1)
    R[:-1, 2] = np.stack([2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)], axis=1)
    R[-1] = np.eye(3)
    return R, np.vstack([r, np.zeros(3)])


def _bent(arrays: Arrays, instance: Any) -> dict[int, Array]:
    """The modal coordinates of each flexible body."""
    if not len(arrays["modal_link"]):
        return {}
    elements, values = _read(arrays, instance, BODY, "q")
    return {int(body): values[elements == body] for body in np.unique(elements)}


def _frame(point: Point, R: Array, r: Array, modal: Array | None) -> tuple[Array, Array]:
    """Origin and axes of a point's frame in the world; modal: modal coordinates of a flexible body."""
    X, offset = point.X_BP, point.X_BP.translation
    if modal is not None and isinstance(point.body, ModalBody):
        plane = point.body.plane_axes.matrix
        moved = modal @ np.array(point.body.node(point)[1])
        offset = offset + plane @ moved[:3]
        theta = plane @ moved[3:]
        angle = float(np.linalg.norm(theta))
        if angle > 0.0:
            x, y, z = (theta / angle).tolist()
            return r + R @ offset, R @ Rotation.about((x, y, z), angle).matrix @ X.rotation.matrix
    return r + R @ offset, R @ X.rotation.matrix


def _shapes(point: Point, R: Array, arm: Array, axes: Array, modal: Array | None) -> Array:
    """(6, modes) what each mode of a flexible body moves `arm` from a point's origin, in the axes given."""
    assert isinstance(point.body, ModalBody)
    plane = R @ point.body.plane_axes.matrix
    rows = np.array(point.body.node(point)[1])
    turns = plane @ _spin_of(np.zeros(3) if modal is None else modal @ rows[:, 3:]) @ rows[:, 3:].T
    slides = plane @ rows[:, :3].T + np.cross(turns, arm, axis=0)
    return np.vstack([axes.T @ turns, axes.T @ slides])


def _spin_of(theta: Array) -> Array:
    """(3, 3) the angular velocity of the rate of a rotation vector (core/tree/bend.c)."""
    x, y, z = theta.tolist()
    angle = float(np.linalg.norm(theta))
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    first, second = 0.5, 1 / 6
    if angle > 1e-4:  # below that the next terms are below round-off
        first, second = (1 - np.cos(angle)) / angle**2, (angle - np.sin(angle)) / angle**3
    spin: Array = np.eye(3) + first * cross + second * cross @ cross
    return spin


def _coordinates(count: int, arrays: Arrays, instance: Any) -> tuple[_Positions, _Positions]:
    """Positions of the free modes and of the excited modes of each joint."""
    at: _Positions = [[] for _ in range(count)]
    eta: _Positions = [[] for _ in range(count)]
    for suffixes, values in ((("r", "q"), at), (("eta",), eta)):
        for element, value in zip(*_read(arrays, instance, JOINT, *suffixes), strict=True):
            values[element].append(float(value))
    return at, eta


def _coupled(coupling: Coupling, index: Mapping[str, int], at: _Positions, eta: _Positions) -> Coupled:
    """A coupling in terms of the free modes of its joints; excited modes carry its force without a reaction.

    index: of the joints, by name.
    """
    terms = []
    places = [index[joint.name] for joint, _, _ in coupling.coordinates]
    modes = [mode - 1 for _, mode, _ in coupling.coordinates]
    ratios = coupling.ratios([[*at[i], *eta[i]][mode] for i, mode in zip(places, modes, strict=True)])
    for (joint, mode, _), i, ratio in zip(coupling.coordinates, places, ratios, strict=True):
        if mode <= len(joint.free_modes):
            vectors = mode_vectors(joint, at[i], eta[i])
            terms.append(Term(i, mode - 1, ratio, vectors.phi, vectors.psi))
    return Coupled(coupling.name, tuple(terms))


def _holding(law: ForceLaw, index: Mapping[str, int], at: _Positions, eta: _Positions) -> Coupled:
    """A law that sticks, as a coupling of the coordinate that it holds; index: of the joints, by name."""
    assert isinstance(law.on, JointBase)
    i = index[law.on.name]
    vectors = mode_vectors(law.on, at[i], eta[i])
    return Coupled(law.name, (Term(i, law.mode - 1, 1.0, vectors.phi, vectors.psi),))


def _of_modes(joints: Sequence[JointBase], cut: NDArray[np.bool_], at: _Positions, eta: _Positions) -> list[Array]:
    """For each joint, the wrenches that do no work on its free modes; empty for joints that only close loops."""
    known: dict[Any, Array] = {}
    spans: list[Array] = []
    for i, joint in enumerate(joints):
        if cut[i]:
            spans.append(np.zeros((6, 0)))
            continue
        alike = _alike(joint)
        if alike is not None and alike in known:
            spans.append(known[alike])
            continue
        phi = free_modes(joint, at[i], eta[i])
        key = phi.tobytes()
        if key not in known:
            known[key] = reciprocal(phi)
        spans.append(known[key])
        known[alike] = known[key]
    return spans


def _alike(joint: JointBase) -> Any:
    """What the free modes of a joint follow from, at any position, if it has one mode that turns or slides."""
    mode = joint.modes[0] if len(joint.modes) == 1 else None
    varies = mode is None or mode.kind == "ball" or mode.pitch or joint.velocity_rows
    return None if varies or mode is None else (mode.kind, mode.role, mode.axis)


def _coordinate(arrays: Arrays, instance: Any, link: int) -> float:
    """The coordinate of a link with one mode; 0 for none, -1."""
    if link < 0:
        return 0.0
    joint = int(arrays["link_joint"][link])
    elements, values = _read(arrays, instance, JOINT, "q", "eta")
    return float(values[elements == joint][int(arrays["link_p"][link] - arrays["joint_p"][joint])])


def _of_rows(joint: int, arrays: Arrays, instance: Any, F: Array, M: Array, arm: Array) -> Array:
    """(6, n) wrenches on M of a closing joint's rows; F, M: axes of its links in F's axes, arm: M's origin in F."""
    columns = []
    for row in np.flatnonzero(arrays["row_joint"] == joint).tolist():
        f, g, column = F @ arrays["row_f"][row], M @ arrays["row_g"][row], np.zeros(6)
        match int(arrays["row_kind"][row]):
            case kind if kind == ALONG:
                column[3:] = f
            case kind if kind == PERPENDICULAR:
                column[:3] = cross(g, f)
            case kind if kind == DISTANCE:
                column[3:] = arm / np.linalg.norm(arm)
            case kind if kind in (lib.FM_ROW_SPEED, lib.FM_ROW_SPEED_M):
                column[3:] = f if kind == lib.FM_ROW_SPEED else g
            case kind if kind in (lib.FM_ROW_SPIN, lib.FM_ROW_SPIN_M):
                column[:3] = f if kind == lib.FM_ROW_SPIN else g
            case kind if kind in TWISTS:
                R, at = M if kind == TWISTS[1] else F, _coordinate(arrays, instance, int(arrays["row_vary"][row]))
                column[:3] = R @ (arrays["row_f"][row] + at * arrays["row_df"][row])
                column[3:] = R @ (arrays["row_g"][row] + at * arrays["row_dg"][row])
            case kind if kind in (lib.FM_ROW_ROLLING, lib.FM_ROW_CONTACT):
                normal = F @ arrays["joint_F"].reshape(-1, 3, 3)[joint][:, 2]
                column[3:] = f
                column[:3] = cross(_contact(float(arrays["row_length"][row]), normal, g), f)
            case kind:
                raise AssertionError(f"a row of kind {kind} has no reaction here")
        columns.append(column)
    return span_of(np.array(columns).T)


def _contact(radius: float, normal: Array, axis: Array) -> Array:
    """(3,) the arm from the centre of a disc to its lowest point; a negative radius is that of a ball."""
    across = normal if radius < 0 else normal - (normal @ axis) * axis
    found: Array = -abs(radius) * across / np.linalg.norm(across)
    return found
