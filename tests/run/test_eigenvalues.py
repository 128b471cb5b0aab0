"""Errors of eigenvalues beside matrices whose eigenvalues are known, and the verdicts that rest on them."""

from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner

import fmumbs as fm
from fmumbs.cli import main
from fmumbs.run.eigenvalues import eigenvalues
from fmumbs.run.vibrations import vibrations
from fmumbs.view.vibration import modes, modes_of_linear
from run.test_linearize import bicycle
from support.sweeps import seeds

EPS = np.finfo(float).eps


def drawn(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A matrix, bounds of its round-off, and its eigenvalues: some on the imaginary axis, zero up to twice in a chain,
    others off it by up to six decades, in states of units over six decades."""
    blocks, values = [], []
    for _ in range(rng.integers(1, 4)):
        decay, w = float(rng.choice([-1.0, 0.0, 1.0])) * 10.0 ** rng.uniform(-3, 3), rng.uniform(1, 9)
        blocks.append(np.array([[decay, w], [-w, decay]]))
        values += [decay + 1j * w, decay - 1j * w]
    for _ in range(rng.integers(0, 3)):
        decay = float(rng.choice([-1.0, 1.0])) * 10.0 ** rng.uniform(-3, 3)
        blocks.append(np.array([[decay]]))
        values.append(decay)
    chain = int(rng.integers(0, 3))
    if chain:
        blocks.append(np.eye(chain, k=1))
        values += [0.0] * chain
    n = sum(map(len, blocks))
    J, at = np.zeros((n, n)), 0
    for block in blocks:
        J[at : at + len(block), at : at + len(block)] = block
        at += len(block)
    turned = np.linalg.qr(rng.normal(size=(n, n)))[0]
    A = turned @ J @ turned.T
    units = 10.0 ** rng.uniform(-3, 3, n)
    E = 8 * n * EPS * np.abs(turned) @ (np.abs(J) + EPS) @ np.abs(turned.T)
    return A * units / units[:, None], E * units / units[:, None], np.array(values, complex)


@pytest.mark.parametrize("seed", seeds(50, 5000))
def test_verdicts_are_never_surer_than_the_matrix(seed: int) -> None:
    """Each eigenvalue lies within its error of a true one, so that one on the axis is decided neither way."""
    rng = np.random.default_rng([seed, 25])
    A, E, true = drawn(rng)
    values, vectors, errors = eigenvalues(A, E)
    apart = np.abs(values[:, None] - true[None, :])
    assert (apart.min(axis=1) <= errors).all() and (apart.min(axis=0) <= errors[apart.argmin(axis=0)]).all()
    assert (np.abs(values.real) > errors).sum() <= (true.real != 0.0).sum()
    assert vectors.shape == A.shape


def test_a_chain_that_nothing_acts_back_on_is_exactly_zero() -> None:
    """Place and heading of a vehicle that steers, with round-off where zeros should be: no root of it."""
    A = np.array([[1e-17, 5.0, 0.0, 0.0], [0.0, 3e-17, 0.0, 1.0], [0.0, 2e-14, -0.3, 0.2], [0.0, 1e-14, 2.0, -4.0]])
    values, _, errors = eigenvalues(A, np.full((4, 4), 5e-14))
    assert (values == 0.0).sum() == 2 and errors.max() < 1e-11
    assert np.sort(values.real[values != 0.0]) == pytest.approx(np.sort(np.linalg.eigvals([[-0.3, 0.2], [2.0, -4.0]])))


def test_no_states_have_no_eigenvalues() -> None:
    values, vectors, errors = eigenvalues(np.zeros((0, 0)), np.zeros((0, 0)))
    assert (values.shape, vectors.shape, errors.shape) == ((0,), (0, 0), (0,))
    assert (values.dtype, vectors.dtype, errors.dtype) == (complex, complex, float)


def test_a_double_root_that_round_off_split_is_not_decided() -> None:
    """Of a critically damped pair the errors are the root of those of A."""
    values, _, errors = eigenvalues(np.array([[0.0, 1.0], [-1e-16, 0.0]]) + np.eye(2) * 1e-9, np.full((2, 2), 1e-16))
    assert (np.abs(values - 1e-9) <= errors).all() and errors.max() < 1e-6


@pytest.mark.parametrize("m", [3, 4, 6])
def test_many_roots_that_an_error_split_are_within_their_errors_of_the_multiple_one(m: int) -> None:
    """An error at the end of a chain of m moves its roots from near zero onto a circle; one beside is single."""
    A, E = np.zeros((m + 1, m + 1)), np.zeros((m + 1, m + 1))
    A[:m, :m] = np.eye(m, k=1)
    A[m, m], A[m - 1, 0], E[m - 1, 0] = 3.0, 1e-10, 0.999e-10
    values, _, errors = eigenvalues(A, E)
    circle = np.abs(values) < 1.0
    radius = 1e-10 ** (1.0 / m)
    assert circle.sum() == m and np.abs(values[circle]) == pytest.approx(radius)
    assert (errors[circle] >= radius - 1e-13 ** (1.0 / m)).all() and (errors[circle] <= 2.0 * radius).all()
    assert errors[~circle] < 1e-10


def coinciding(seed: int) -> tuple[np.ndarray, np.ndarray, float]:
    """A matrix that an error has moved, bounds of the error, and an eigenvalue that 4 to 12 share, in chains or not."""
    rng = np.random.default_rng([seed, 26])
    m, value = int(rng.choice((4, 6, 8, 10, 12))), float(rng.choice((0.0, 1.0, -1.0))) * 10.0 ** rng.uniform(-2, 1)
    n = m + int(rng.integers(0, 3))
    links = (rng.random(m - 1) < rng.choice((0.7, 1.0))) * 10.0 ** rng.uniform(-1, 1, m - 1)
    J = np.diag(np.r_[np.full(m, value), value + 10.0 ** rng.uniform(0, 1.5, n - m)])
    J[:m, :m] += np.diag(links, 1)
    X = rng.normal(size=(n, n))
    X = np.linalg.qr(X)[0] if seed % 3 else X
    inverse = np.linalg.inv(X)
    E = 8 * n * EPS * np.abs(X) @ (np.abs(J) + EPS) @ np.abs(inverse) * 10.0 ** rng.choice((0, 2, 4))
    A = X @ J @ inverse + 0.9 * E * rng.uniform(-1, 1, E.shape)
    units = 10.0 ** rng.uniform(-2, 2, n)
    return A * units / units[:, None], E * units / units[:, None], value


@pytest.mark.parametrize("seed", seeds(100, 3000))
def test_roots_that_coincide_lie_within_their_errors(seed: int) -> None:
    """However many: eigenvectors of what round-off has split of them are nearly dependent, and are not left out."""
    A, E, value = coinciding(seed)
    values, _, errors = eigenvalues(A, E)
    apart = np.abs(values - value)
    others = np.abs(values[:, None] - np.linalg.eigvals(A)[None, :]).min(axis=1)
    assert (np.minimum(apart, np.where(apart > 0.9, others, np.inf)) <= errors).all()


@pytest.mark.parametrize("oscillators", [1, 3])
@pytest.mark.parametrize("stiffness", [1.0, 4.0])
def test_a_critically_damped_oscillator_decays(stiffness: float, oscillators: int) -> None:
    """Its double root is computed without a split, where the first order has no bound; errors of 1e-13 split it."""
    model = fm.Model("critical", gravity=(0, 0, 0))
    for i in range(oscillators):
        body, damping = fm.Body(f"b{i}", mass=1.0, inertia=(1, 1, 1)), 2.0 * np.sqrt(stiffness)
        model.add(body, fm.Revolute(f"A{i}", model.ground.at(), body.at(), stiffness=stiffness, damping=damping))
    found = fm.linearize(model).modes
    assert set(found.verdicts) == {"decays"}
    assert found.errors.min() > 1e-7 and found.errors.max() < 1e-3


def test_errors_of_a_linear_model_cover_round_off() -> None:
    """Where it stands and heads does not act on a bicycle: entries there are round-off, and within their errors."""
    linear = fm.linearize(bicycle()(5.0), inputs=[], outputs=[])
    idle = [linear.states.index(name) for name in ("free.r[1]", "free.r[2]", "free.rotation[3]")]
    moving = [i for i, name in enumerate(linear.states) if name.partition(".")[2] in ("w[1]", "qd")]
    there = np.ix_(moving, idle)
    assert (np.abs(linear.A[there]) <= linear.errors[0][there]).all()
    assert linear.errors[0].max() < 1e-11


def test_verdicts_need_more_than_the_error() -> None:
    linear = fm.linearize(sliding())
    values = np.array([2e-13, 1e-14, -1e-14 + 2j, -2e-13])
    found = replace(linear.modes, eigenvalues=values, errors=np.full(4, 1e-13))
    assert found.verdicts == ("grows", "not decided", "not decided", "decays")


def sliding() -> fm.Model:
    """A body that slides freely, with one on a spring beside it."""
    model = fm.Model("sliding", gravity=(0, 0, 0))
    a, b = (fm.Body(name, mass=1.3, inertia=(1, 1, 1)) for name in "ab")
    A = fm.Revolute("A", model.ground.at(), a.at(), axis=(0.6, 0.0, 0.8), q0=0.7)
    at = {"axis": (0.8, 0, 0.6), "stiffness": 3.0, "q0": 0.4}
    model.add(a, b, A, fm.Revolute("B", a.at(0.3, 0.2, 0.1), b.at(0.4, 0.1, 0), **at))
    return model


def test_the_page_the_table_and_the_modes_do_not_decide_what_round_off_hides() -> None:
    """It turns freely as a whole: the verdict on that, and on undamped vibration, is neither growth nor decay."""
    linear = fm.linearize(sliding())
    assert set(linear.modes.verdicts) == {"not decided"}
    names = [one["name"] for one in modes_of_linear(linear)]
    assert len(names) == 3 and not [one for one in names if "grows" in one or "decays" in one]
    assert sum("not decided: 0 +- " in one or "rests anywhere" in one for one in names) == 2
    assert sum("damping 0," in one for one in names) == 1
    assert str(linear).count("not decided") == 3


def test_a_vibration_within_its_error_is_not_decided(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a pendulum as if it had been found with larger errors, and one that departs with as large ones."""
    for q0 in (0.0, np.pi):
        model = fm.Model("pendulum", gravity=(0, 0, -9.81))
        rod = fm.Body.rod("rod", length=1.0, mass=1.0, along="z")
        model.add(rod, fm.Revolute("A", model.ground.at(), rod.base, axis="y", q0=q0))
        found = fm.equilibrium(model)
        (clear,) = modes(found)
        assert clear["name"] == ("1: grows as exp(3.84 t), A.q" if q0 == 0.0 else "1: 0.6105 Hz, A.q")
        kept = replace(vibrations(found.solver), errors=np.array([16.0]))
        with monkeypatch.context() as patched:
            patched.setattr("fmumbs.view.vibration.vibrations", lambda _, kept=kept: kept)
            (hidden,) = modes(found)
        assert hidden["name"] == "1: not decided: 0 +- 4 rad/s, A.q"


def test_the_command_says_so() -> None:
    done = CliRunner().invoke(main, ["linearize", "four_bar", "--at", "start", "--json"])
    assert done.exit_code == 0 and '"verdicts": [' in done.output and '"eigenvalue_errors": [' in done.output
    done = CliRunner().invoke(main, ["linearize", "double_pendulum"])
    assert "verdict" in done.output and "not decided" in done.output
