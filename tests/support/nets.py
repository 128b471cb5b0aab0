"""Random nets of point springs, with their energy in absolute coordinates."""

from typing import Any

import numpy as np

import fmumbs as fm


class Net:
    """Masses on slides, springs and rigid rods between them, and the energy of all in their places."""

    def __init__(
        self,
        seed: int,
        columns: int,
        rows: int,
        decades: float = 0.0,
        unit: float = 1.0,
        rods: int = 0,
        stretch: tuple[float, float] | None = None,
    ) -> None:
        rng = np.random.default_rng(seed)
        self.rng, self.unit, self.decades = rng, unit, decades
        self.stretch = stretch or ((0.6, 0.95) if seed % 3 else (0.8, 1.1))  # some springs are slack
        self.gravity = rng.normal(size=3) * unit * (0.3 if seed % 4 else 0.0)
        self.model = fm.Model("net", gravity=self.gravity)
        self.start: list[np.ndarray] = []
        self.mass: list[float] = []
        self.springs: list[tuple[Any, Any, float, float]] = []
        self.rods: list[tuple[int, int, float]] = []
        self.at: dict[tuple[int, int], int | np.ndarray] = {}
        self.points: dict[tuple[int, int], Any] = {}
        for i in range(columns + 2):
            for j in range(rows + 2):
                self._put(i, j, 0 < i <= columns and 0 < j <= rows)
        rigid = {int(k) for k in rng.permutation(max(1, (columns - 1) * rows))[:rods]}
        for i, j in list(self.at):
            self._join((i, j), (i, j + 1), False)
            self._join((i, j), (i + 1, j), (i - 1) * rows + j - 1 in rigid and 0 < i < columns and 0 < j <= rows)

    def _put(self, i: int, j: int, moves: bool) -> None:
        place = self.unit * np.array([i, j, 0.0])
        if not moves:
            self.at[i, j], self.points[i, j] = place, self.model.ground.at(*place)
            return
        place = place + self.unit * self.rng.uniform(-0.1, 0.1, 3)
        aside = (self.unit / 2, 0, 0)  # of no effect on a body that only slides, but it tells the model's size
        body = fm.Body(f"m{i}_{j}", mass=float(self.rng.uniform(0.5, 2)), com=aside, inertia=(self.unit**2,) * 3)
        slides = tuple(fm.Slide(axis) for axis in "xyz")
        self.model.add(body, fm.Joint(f"S{i}_{j}", self.model.ground.at(*place), body.at(), modes=slides))
        self.at[i, j], self.points[i, j] = len(self.start), body.at()
        self.start.append(place)
        self.mass.append(body.mass)

    def _join(self, one: tuple[int, int], other: tuple[int, int], rigid: bool) -> None:
        if other not in self.at or not (isinstance(self.at[one], int) or isinstance(self.at[other], int)):
            return
        a, b = self.at[one], self.at[other]
        far = float(np.linalg.norm(self.of(a, self.start) - self.of(b, self.start)))
        name = f"{one[0]}_{one[1]}_{other[0]}_{other[1]}"
        if rigid:
            self.model.add(fm.Distance(f"r{name}", self.points[one], self.points[other], length=far))
            self.rods.append((a, b, far))  # type: ignore[arg-type]
            return
        k = float(100 * 10 ** self.rng.uniform(-self.decades / 2, self.decades / 2))
        free = far * float(self.rng.uniform(*self.stretch))
        self.model.add(fm.Spring(f"s{name}", self.points[one], self.points[other], stiffness=k, free_length=free))
        self.springs.append((a, b, k, free))

    @staticmethod
    def of(end: Any, x: Any) -> np.ndarray:
        return np.asarray(x[end] if isinstance(end, int) else end)

    def terms(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Gradient of the energy, Hessian with the rods' forces, Jacobian of the rods."""
        n = len(x)
        g, K, J = (
            -(np.array(self.mass)[:, None] * self.gravity).ravel(),
            np.zeros((3 * n, 3 * n)),
            np.zeros((len(self.rods), 3 * n)),
        )
        for a, b, k, free in self.springs:
            d = self.of(a, x) - self.of(b, x)
            length = np.linalg.norm(d)
            line, pull = d / length, k * (length - free)
            self._add(K, a, b, k * np.outer(line, line) + pull / length * (np.eye(3) - np.outer(line, line)))
            for end, sign in ((a, 1.0), (b, -1.0)):
                if isinstance(end, int):
                    g[3 * end : 3 * end + 3] += sign * pull * line
        for row, (a, b, length) in enumerate(self.rods):
            line = (x[a] - x[b]) / length
            J[row, 3 * a : 3 * a + 3], J[row, 3 * b : 3 * b + 3] = line, -line
        if self.rods:
            forces = np.linalg.lstsq(J.T, -g, rcond=None)[0]
            for (a, b, length), force in zip(self.rods, forces, strict=True):
                line = (x[a] - x[b]) / length
                self._add(K, a, b, force / length * (np.eye(3) - np.outer(line, line)))
        return g, K, J

    @staticmethod
    def _add(K: np.ndarray, a: Any, b: Any, block: np.ndarray) -> None:
        for one, other, sign in ((a, a, 1), (b, b, 1), (a, b, -1), (b, a, -1)):
            if isinstance(one, int) and isinstance(other, int):
                K[3 * one : 3 * one + 3, 3 * other : 3 * other + 3] += sign * block

    def correction(self, x: np.ndarray) -> np.ndarray:
        """That of dense Newton at x, on the constraints."""
        g, K, J = self.terms(x)
        size = np.abs(K).max()
        whole = np.block([[K, size * J.T], [size * J, np.zeros((len(J), len(J)))]])
        return np.linalg.solve(whole, np.concatenate([-g, np.zeros(len(J))]))[: len(g)]

    def squares(self, x: np.ndarray) -> np.ndarray:
        """Squared frequencies at x."""
        _, K, J = self.terms(x)
        root = np.repeat(np.sqrt(self.mass), 3)
        N = np.linalg.svd(J / root)[2][len(J) :].T if len(J) else np.eye(len(root))
        return np.linalg.eigvalsh(N.T @ (K / np.outer(root, root)) @ N)
