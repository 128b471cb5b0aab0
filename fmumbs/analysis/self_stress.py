"""Self-stress: reactions that balance themselves. The null space of the loops, and its image in every joint.

Every joint that closes a loop is cut; its unknown wrench T_c x_c is transmitted by the joints e of the loop. Each of
them can carry only wrenches that do no work on its free modes phi_e, so that

    sum over the loops through e of  +- phi_e' shift(e, c) T_c x_c = 0        for every joint e of the tree.

K = J M^-1 J' of the loops has the same null space, but with the square of the singular values. Reactions are unique
where its image +- shift(e, c) T_c x_c vanishes (Eqs 45 to 47 of dca-reaction-uniqueness, for any topology).

The rows are eliminated cut by cut, cuts that share joints with the fewest others first, each by a singular value
decomposition of its own few rows: x_c = X x_others + Z free. The back-substitution of a cut needs its neighbours only.
For local loops this takes time linear in their number. Each loop is scaled by its own length, so that units and sizes
do not matter.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from fmumbs.analysis.placed import Array, Flexible, Indices, Placed, Tree, shift, tree_of_short_loops

TOLERANCES = (1e-9, 1e-7, 1e-11, 1e-6, 1e-12)  # of singular values; the first with a clear gap is used
CLEAR = 1e3  # a gap between counted and dropped singular values this wide is clear
NOISE = 1e-14  # smaller singular values are round-off


@dataclass
class Gap:
    """Smallest counted and largest dropped singular value, relative to the largest."""

    tolerance: float
    kept: float = 1.0
    dropped: float = 0.0

    @property
    def ratio(self) -> float:
        return self.kept / max(self.dropped, NOISE)

    def rank(self, values: Array) -> int:
        """Number of counted singular values, of (n,) in descending order."""
        count = int(np.count_nonzero(values > self.tolerance))
        if count:
            self.kept = min(self.kept, float(values[count - 1]))
        if count < len(values):
            self.dropped = max(self.dropped, float(values[count]))
        return count


@dataclass(frozen=True)
class SelfStress:
    """The self-stresses: reactions that balance themselves.

    degree: of redundancy: number of independent self-stresses. images: (6, n) for each joint: orthonormal basis of
    their wrenches in it, (torque / length, force) at M in F's axes. lengths: (joints,) [m].
    fixes: for some joints (6, n) columns of the same sort; where they carry these no longer, nothing is left, and
    they are as few as can be. For a coupling, numbered behind the joints, none: it can go altogether.
    loose: the couplings whose force self-stresses change.
    """

    degree: int
    images: tuple[Array, ...]
    lengths: Array
    fixes: dict[int, Array]
    gap: Gap
    loose: frozenset[int] = frozenset()


def self_stress(placed: Placed, tree: Tree | None = None) -> SelfStress:
    """The self-stresses of a mechanism; tree: determines the cut joints, by default those of short loops."""
    tree = tree or tree_of_short_loops(placed)
    system = _Loops(placed, tree)
    found = [_solve(system, TOLERANCES[0])]
    for tolerance in TOLERANCES[1:]:
        if found[-1].gap.ratio >= CLEAR:
            return found[-1]
        found.append(_solve(system, tolerance))
    return max(found, key=lambda stress: stress.gap.ratio)


def null_space(placed: Placed) -> tuple[list[Array], Array]:
    """(6, degree) for each joint, with common columns, scaled like the images; and (joints,) lengths [m].

    Needs memory proportional to the square of the number of bodies.
    """
    system = _Loops(placed, tree_of_short_loops(placed))
    solved = _Elimination(system, Gap(self_stress(placed).gap.tolerance), explicit=True)
    total = 0
    columns: dict[int, slice] = {}
    for frame in {id(frame): frame for frame in solved.frames.values()}.values():
        columns[id(frame)] = slice(total, total + frame.columns)
        total += frame.columns
    out = [np.zeros((6, total)) for _ in placed.joints]
    for joint, cuts in system.through.items():
        for cut, matrix in zip(cuts, system.carried(joint), strict=True) if joint >= 0 else ():
            frame = solved.frames[cut]
            out[joint][:, columns[id(frame)]] += matrix @ solved.spaces[cut] @ frame.of(cut)
    return out, system.lengths


class _Loops:
    """The scaled loop system, in blocks.

    Its unknowns are the wrenches of the cuts, by their joint, and the multipliers of couplings, numbered after all
    joints. sizes: of the unknowns. through: the unknowns that act on each joint. blocks: their generalised forces on
    the free modes of a joint of the tree, which are the rows of the system; carried: (6, size) their part of the
    reaction, in F's axes. A coupling acts on the modes, Lambda = reaction + psi ratio mu, so phi' Lambda = ratio mu.
    """

    def __init__(self, placed: Placed, tree: Tree) -> None:
        pairs = [
            (int(tree.carrier[body]), cut, way * (-1 if placed.M[tree.carrier[body]] == body else 1))
            for cut in tree.cuts
            for body, way in tree.loop(int(placed.F[cut]), int(placed.M[cut]))
        ]
        joints, cuts, signs = np.array(pairs, np.int64).reshape(-1, 3).T
        self.lengths = _lengths(placed, joints, cuts)
        spans, modes = _bases(placed, {*tree.cuts, *joints.tolist()}, self.lengths)
        coupled = _coupled(placed, self.lengths)
        self.sizes = {cut: spans[cut].shape[1] for cut in tree.cuts}
        self.sizes |= {len(placed.joints) + k: 1 for k in range(len(placed.couplings))}
        self._carried: dict[int, dict[int, Array]] = {cut: {cut: spans[cut]} for cut in tree.cuts}
        self._blocks: dict[int, dict[int, Array]] = {}
        moved = _moved(placed, joints, cuts, signs, self.lengths)
        for joint, cut, matrix in zip(joints.tolist(), cuts.tolist(), moved, strict=True):
            rows = coupled[joint].phi if joint in coupled else modes[joint].T
            self._pass(joint, rows, cut, matrix @ spans[cut])
            for unknown, push in coupled[cut].push.items() if cut in coupled else ():
                self._pass(joint, rows, unknown, matrix @ coupled[cut].psi @ push[:, None])
        for joint, one in coupled.items():
            for unknown, push in one.push.items() if joint not in tree.cuts else ():
                self._pass(joint, one.phi, unknown, np.zeros((6, 1)))
                self._carried[joint][unknown] -= one.psi @ push[:, None]
                self._blocks[joint][unknown] -= push[:, None]
        for k, body in enumerate(placed.flexible):
            self._bend(-1 - k, body, coupled)
        self.through = {joint: list(found) for joint, found in (*self._blocks.items(), *self._carried.items())}
        self._balance(len(placed.joints))
        self.blocks = {joint: list(found.values()) for joint, found in self._blocks.items()}

    def _pass(self, joint: int, rows: Array, unknown: int, wrench: Array) -> None:
        """Adds the wrench of an unknown on a joint of the tree."""
        carried, blocks = self._carried.setdefault(joint, {}), self._blocks.setdefault(joint, {})
        carried[unknown] = carried[unknown] + wrench if unknown in carried else wrench
        block = rows @ wrench
        blocks[unknown] = blocks[unknown] + block if unknown in blocks else block

    def _bend(self, key: int, body: Flexible, coupled: "dict[int, _Coupled]") -> None:
        """Adds the rows of a body's modes: the wrenches in its joints together do no work on them."""
        found: dict[int, Array] = {}
        lengths = {joint: np.repeat([self.lengths[joint], 1.0], 3)[:, None] for joint in body.shapes}
        shapes = {joint: (lengths[joint] * shape).T for joint, shape in body.shapes.items()}
        sizes = np.linalg.norm(np.hstack([np.zeros((body.modes, 1)), *shapes.values()]), axis=1)[:, None]
        for joint, shape in shapes.items():
            rows = shape / np.maximum(sizes, 1e-300)
            for unknown, wrench in self._carried.get(joint, {}).items():
                push = coupled[joint].push.get(unknown) if joint in coupled else None
                whole = wrench if push is None else wrench + coupled[joint].psi @ push[:, None]
                found[unknown] = found.get(unknown, 0.0) + rows @ whole
        if found:
            self._blocks[key] = found

    def _balance(self, joints: int) -> None:
        """Scales multipliers of couplings, and rows to a length of at most one."""
        largest: dict[int, float] = {}
        for found in self._blocks.values():
            for unknown, block in found.items():
                if unknown >= joints:
                    largest[unknown] = max(largest.get(unknown, 0.0), float(np.abs(block).max(initial=0.0)))
        for found in (*self._blocks.values(), *self._carried.values()):
            for unknown in found.keys() & largest.keys():
                found[unknown] = found[unknown] / (largest[unknown] or 1.0)
        for found in self._blocks.values():
            norms = np.sqrt(sum(np.sum(block**2, axis=1) for block in found.values()))[:, None]
            for unknown in found:
                found[unknown] = found[unknown] / np.maximum(norms, 1.0)

    def carried(self, joint: int) -> list[Array]:
        """(6, size) of each unknown in `through`."""
        return list(self._carried[joint].values())


@dataclass(frozen=True)
class _Coupled:
    """A joint with coupled coordinates, scaled: phi (n, 6), psi (6, n), and ratios (n,) by the coupling's number."""

    phi: Array
    psi: Array
    push: dict[int, Array]


def _coupled(placed: Placed, lengths: Array) -> dict[int, _Coupled]:
    found: dict[int, _Coupled] = {}
    for k, coupling in enumerate(placed.couplings):
        for term in coupling.terms:
            length = lengths[term.joint]
            phi = np.vstack([length * term.phi[:3], term.phi[3:]])
            size = np.linalg.norm(phi, axis=0)
            psi = np.vstack([term.psi[:3] / length, term.psi[3:]])
            here = found.setdefault(term.joint, _Coupled((phi / size).T, psi * size, {}))
            push = here.push.setdefault(len(placed.joints) + k, np.zeros(phi.shape[1]))
            push[term.mode] += term.ratio / size[term.mode]
    return found


def _moved(placed: Placed, joints: Indices, cuts: Indices, signs: Indices, lengths: Array) -> Array:
    """(pairs, 6, 6) transforms a wrench of a cut, in its F's axes, to a joint of its loop, in that joint's F's axes."""
    moved = shift((placed.origin[cuts] - placed.origin[joints]) / lengths[joints][:, None])
    moved[:, :3, :3] *= (lengths[cuts] / lengths[joints])[:, None, None]
    moved = np.swapaxes(_both(placed.axes[joints]), 1, 2) @ moved @ _both(placed.axes[cuts])
    return np.asarray(signs[:, None, None] * moved)


def _lengths(placed: Placed, joints: Indices, cuts: Indices) -> Array:
    """(joints,) for a cut the mean distance of the loop's joints, for another joint that of its smallest loop [m]."""
    away = np.linalg.norm(placed.origin[joints] - placed.origin[cuts], axis=1)
    count = len(placed.joints)
    number = np.bincount(cuts, minlength=count)
    mean = np.bincount(cuts, away, count) / np.maximum(number, 1)
    usual = float(mean[mean > 0.0].mean()) if (mean > 0.0).any() else 1.0
    lengths = np.where(mean > 0.0, mean, np.inf)
    smallest = np.full(count, np.inf)
    np.minimum.at(smallest, joints, lengths[cuts])
    found = np.where(number > 0, lengths, smallest)
    return np.where(np.isfinite(found), found, usual)


def _bases(placed: Placed, wanted: Iterable[int], lengths: Array) -> tuple[dict[int, Array], dict[int, Array]]:
    """Orthonormal wrenches that a joint can carry, and their complement; (6, n), scaled, in F's axes."""
    chosen = list(wanted)
    stacked = np.zeros((len(chosen), 6, 6))
    for i, joint in enumerate(chosen):
        span = placed.spans[joint]
        stacked[i, :, : span.shape[1]] = span
    stacked[:, :3] /= lengths[chosen][:, None, None]
    u, _, _ = np.linalg.svd(stacked)
    counts = [placed.spans[joint].shape[1] for joint in chosen]
    spans = {joint: u[i, :, :n] for i, (joint, n) in enumerate(zip(chosen, counts, strict=True))}
    modes = {joint: u[i, :, n:] for i, (joint, n) in enumerate(zip(chosen, counts, strict=True))}
    return spans, modes


def _both(R: Array) -> Array:
    """(n, 6, 6) rotations of torque and force."""
    out = np.zeros((len(R), 6, 6))
    out[:, :3, :3] = out[:, 3:, 3:] = R
    return out


def _solve(system: _Loops, tolerance: float) -> SelfStress:
    gap = Gap(tolerance)
    solved = _Elimination(system, gap)
    none = np.zeros((6, 0))
    on_joints = {joint: cuts for joint, cuts in system.through.items() if joint >= 0}  # not rows of a flexible body
    wrenches = {joint: solved.wrench(cuts, system.carried(joint)) for joint, cuts in on_joints.items()}
    found = solved.images(wrenches)
    images = tuple(found.get(joint, none) for joint in range(len(system.lengths)))
    fixes = {
        cut: system.carried(cut)[0] @ solved.spaces[cut] @ free if cut < len(images) else none
        for cut, free in solved.free.items()
        if free.shape[1]
    }
    degree = sum(free.shape[1] for free in solved.free.values())
    multipliers = [unknown for unknown in system.sizes if unknown >= len(images)]
    changed = solved.images({unknown: solved.wrench([unknown], [np.eye(6, 1)]) for unknown in multipliers})
    loose = {unknown - len(images) for unknown, image in changed.items() if image.shape[1]}
    return SelfStress(degree, images, system.lengths, fixes, gap, frozenset(loose))


def _reflected(A: Array, B: Array) -> tuple[Array, Array]:
    """Q'A and Q'B, Q'A zero below its first rows: few columns are reflected one by one, and Q is never formed."""
    if A.shape[0] <= A.shape[1]:
        return A, B
    both = np.concatenate([A, B], axis=1)
    for k in range(A.shape[1]):
        v = both[k:, k].copy()
        size = float(np.linalg.norm(v))
        if size > 0.0:
            v[0] += np.copysign(size, v[0])
            both[k:] -= np.outer(v, (2.0 / float(v @ v)) * (v @ both[k:]))
    return both[:, : A.shape[1]], both[:, A.shape[1] :]


@dataclass
class _Frame:
    """Common columns of several cuts; rows: (size, columns) of each cut."""

    columns: int = 0
    rows: dict[int, Array] = field(default_factory=dict)

    def of(self, cut: int) -> Array:
        """(size, columns)"""
        own = self.rows[cut]
        if own.shape[1] == self.columns:
            return own
        return np.concatenate([own, np.zeros((own.shape[0], self.columns - own.shape[1]))], axis=1)

    def stack(self, cuts: Iterable[int]) -> Array:
        return np.concatenate([self.of(cut) for cut in cuts])


class _Elimination:
    """Eliminates the cuts one by one, and finds their solutions by back-substitution.

    spaces: (size, n) basis for each cut of the solutions of the rows that involve it alone; all other matrices refer to
    it. free: basis of the solutions with its neighbours zero. frames: of the rows of each cut. explicit: keeps all
    columns, so that distant cuts can be compared.
    """

    def __init__(self, system: _Loops, gap: Gap, explicit: bool = False) -> None:
        self.gap, self.explicit = gap, explicit
        self.spaces: dict[int, Array] = {}
        self.free: dict[int, Array] = {}
        self.frames: dict[int, _Frame] = {}
        self._factors: dict[int, tuple[tuple[int, ...], Array]] = {}
        self._of_cut: dict[int, set[int]] = {cut: set() for cut in system.sizes}
        self._names = 0
        self._when: dict[int, int] = {}
        self._restrict(system)
        self._others: dict[int, tuple[tuple[int, ...], Array]] = {}
        self._ranges: dict[tuple[int, ...], Array] = {}
        self._eliminate()
        self._go_back()

    def _restrict(self, system: _Loops) -> None:
        """Uses the rows of joints in a single loop to restrict its cut; the others couple cuts."""
        alone: dict[int, list[Array]] = {cut: [] for cut in system.sizes}
        for joint, blocks in system.blocks.items():
            if len(blocks) == 1:
                alone[system.through[joint][0]].append(blocks[0])
        for cut in system.sizes:
            self.spaces[cut] = self._null(np.vstack([np.zeros((0, system.sizes[cut])), *alone[cut]]))
        for joint, blocks in system.blocks.items():
            if len(blocks) > 1:
                cuts = tuple(system.through[joint])
                self._add(cuts, np.hstack([b @ self.spaces[c] for b, c in zip(blocks, cuts, strict=True)]))

    def _null(self, rows: Array) -> Array:
        """(columns, n) orthonormal basis of the null space."""
        if not rows.size:
            return np.eye(rows.shape[1])
        _, s, vt = np.linalg.svd(rows)
        null: Array = vt[self.gap.rank(s) :].T
        return null

    def _add(self, cuts: tuple[int, ...], rows: Array) -> None:
        """Adds a relation between cuts: rows times their unknowns are zero."""
        if rows.shape[0] > rows.shape[1]:
            rows = np.asarray(np.linalg.qr(rows, mode="r"))
        name = self._names
        self._names += 1
        self._factors[name] = (cuts, rows)
        for cut in cuts:
            self._of_cut[cut].add(name)

    def _size(self, cut: int) -> int:
        return int(self.spaces[cut].shape[1])

    def _eliminate(self) -> None:
        near = {
            cut: {other for name in names for other in self._factors[name][0]} - {cut}
            for cut, names in self._of_cut.items()
        }
        waiting: list[set[int]] = [set() for _ in range(len(near) + 1)]  # by their number of neighbours
        for cut, neighbours in near.items():
            waiting[len(neighbours)].add(cut)
        fewest = 0
        while near:
            while not waiting[fewest]:
                fewest += 1
            cut = min(waiting[fewest])
            waiting[fewest].discard(cut)
            others = near.pop(cut)
            together = any(len(self._factors[name][0]) == len(others) + 1 for name in self._of_cut[cut])
            self._take_out(cut, tuple(sorted(others)))
            for other in others:
                waiting[len(near[other])].discard(other)
                near[other].discard(cut)
                if not together:
                    near[other] |= others
                    near[other].discard(other)
                waiting[len(near[other])].add(other)
                fewest = min(fewest, len(near[other]))

    def _take_out(self, cut: int, others: tuple[int, ...]) -> None:
        """Solves for a cut, x_cut = X x_others + Z free, and adds the remaining relations between the others."""
        at, width = {}, 0
        for other in others:
            at[other] = slice(width, width + self._size(other))
            width += self._size(other)
        own, rest = [np.zeros((0, self._size(cut)))], [np.zeros((0, width))]
        for name in sorted(self._of_cut[cut]):
            cuts, rows = self._factors.pop(name)
            spread, start = np.zeros((len(rows), width)), 0
            for other in cuts:
                part = rows[:, start : start + self._size(other)]
                start += self._size(other)
                if other == cut:
                    own.append(part)
                else:
                    spread[:, at[other]] = part
                    self._of_cut[other].discard(name)
            rest.append(spread)
        A, B = np.concatenate(own), np.concatenate(rest)
        A, B = _reflected(A, B)
        few = min(A.shape)
        u, s, vt = np.linalg.svd(A[:few]) if A.size else (np.eye(few), np.zeros(0), np.eye(A.shape[1]))
        rank = self.gap.rank(s)
        X = -vt[:rank].T @ ((u[:, :rank].T @ B[:few]) / s[:rank, None])
        self.free[cut] = vt[rank:].T
        self._when[cut] = len(self._when)
        self._others[cut] = (others, X)
        if others:
            self._add(others, np.vstack([u[:, rank:].T @ B[:few], B[few:]]))

    def _go_back(self) -> None:
        for cut in reversed(self._when):
            others, X = self._others[cut]
            Z = self.free[cut]
            if others:
                frame = self.frames[min(others, key=self._when.__getitem__)]
                if not self.explicit and frame.columns > X.shape[1]:
                    frame = self._narrowed(frame, others)
                own = X @ frame.stack(others)
            else:
                frame, own = _Frame(), np.zeros((self._size(cut), 0))
            frame.rows[cut] = np.concatenate([own, np.zeros((len(own), frame.columns - own.shape[1])), Z], axis=1)
            frame.columns += Z.shape[1]
            self.frames[cut] = frame

    def _narrowed(self, frame: _Frame, cuts: tuple[int, ...]) -> _Frame:
        """A frame with as few columns as the given cuts need."""
        basis = self._range(frame.stack(cuts))
        narrow, start = _Frame(basis.shape[1]), 0
        for cut in cuts:
            narrow.rows[cut] = basis[start : start + self._size(cut)]
            start += self._size(cut)
        return narrow

    def _range(self, columns: Array) -> Array:
        """(rows, n) orthonormal columns with the same span; what is small relative to the largest is noise."""
        if not columns.size:
            return columns[:, :0]
        rows, n = columns.shape
        few = columns
        if n > rows:  # a square with the same left vectors and values
            few = np.asarray(np.linalg.qr(columns.T, mode="r")).T
        u, s, _ = np.linalg.svd(few, full_matrices=False)
        return u[:, : self.gap.rank(s / max(s[0], NOISE)) if s[0] > self.gap.tolerance else 0]

    def wrench(self, cuts: list[int], carried: list[Array]) -> Array:
        """(6, n) wrenches of these cuts together in a joint."""
        key = tuple(cuts)
        if key not in self._ranges:  # joints of a loop have the same
            self._ranges[key] = self._range(self.frames[min(cuts, key=self._when.__getitem__)].stack(cuts))
        moved = [m @ self.spaces[c] for m, c in zip(carried, cuts, strict=True)]
        return np.asarray(np.concatenate(moved, axis=1) @ self._ranges[key])

    def images(self, wrenches: dict[int, Array]) -> dict[int, Array]:
        """(6, m) orthonormal bases of wrenches (6, n); as many at once as have the same n."""
        alike: dict[int, list[int]] = {}
        for joint, wrench in wrenches.items():
            alike.setdefault(wrench.shape[1], []).append(joint)
        found = dict(wrenches)
        for n, joints in alike.items():
            if n:
                u, s, _ = np.linalg.svd(np.array([wrenches[joint] for joint in joints]), full_matrices=False)
                found |= {joint: u[k, :, : self.gap.rank(s[k])] for k, joint in enumerate(joints)}
        return found
