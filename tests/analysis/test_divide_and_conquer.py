"""The divide-and-conquer method on the example of its paper, step by step, and beside the general method."""

from typing import get_args

import numpy as np
import pytest
import scipy.linalg
from hypothesis import given, settings
from numpy.testing import assert_allclose

import fmumbs as fm
from fmumbs.analysis import tools
from fmumbs.analysis.assembly import EMPTY, assemble, modes
from fmumbs.analysis.divide_and_conquer import divide_and_conquer
from fmumbs.analysis.placed import Placed
from fmumbs.analysis.tools import ToolName
from fmumbs.analysis.uniqueness import uniqueness
from fmumbs.readers import read_model
from fmumbs.run.reactions import place
from support.platforms import platforms

TOOLS = get_args(ToolName)
PAPERS_ORDER = "BRDQFHLNP"  # of the joints inside: assemblies 11 to 19, of which 12 and 14 share a joint
LOOSE, TIGHT = "ABCDEFGH", "KLMNPQR"


@pytest.fixture(scope="module")
def there() -> Placed:
    """The paper's mechanism at its start."""
    return put(read_model("parallelogram_pendulum"))


def put(model: fm.Model) -> Placed:
    solver = fm.Solver(model)
    solver.assemble()
    return place(model, solver)


# The paper's example ----------------------------------------------------------------------------------------


def test_the_mechanism_is_the_papers() -> None:
    model = read_model("parallelogram_pendulum")
    assert (len(model.bodies), len(model.joints)) == (10, 15)
    assert "".join(sorted(joint.name for joint in model.joints)) == "ABCDEFGHKLMNPQR"
    rods = [body for body in model.bodies if body.name != "body7"]
    assert {(rod.mass, rod.inertia[0][0], rod.inertia[1][1]) for rod in rods} == {(5.0, 0.04, 4.0)}
    there = put(model)
    origin = dict(zip(there.joints, there.origin, strict=True))
    theta = np.pi / 12
    for foot, top in ("AB", "CD", "EF", "GH"):
        assert_allclose(origin[top] - origin[foot], (-2 * np.sin(theta), 2 * np.cos(theta), 2), atol=1e-12)
    for foot, top in ("KL", "MN"):
        assert_allclose(origin[top] - origin[foot], (-2 * np.sin(theta), 2 * np.cos(theta), -2), atol=1e-12)
    assert_allclose(np.linalg.norm(origin["Q"] - origin["P"]), 2 * np.sqrt(2))


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("own", [False, True])
def test_the_papers_result(there: Placed, tool: ToolName, own: bool) -> None:
    found = divide_and_conquer(there, tool, own_inertias=own)
    (connection,) = found.connections
    assert connection.G.shape == (18, 18)
    assert connection.rank == 17
    assert found.unique == dict.fromkeys(LOOSE, False) | dict.fromkeys(TIGHT, True)


@pytest.mark.parametrize("tool", TOOLS)
def test_the_papers_table_1(there: Placed, tool: ToolName) -> None:
    """Total reaction and components of every joint on the ground and of three sets."""
    expected = dict.fromkeys("ACEG", (False, False)) | dict.fromkeys(("K", "M", "KM"), (True, True))
    expected |= dict.fromkeys(("ACEG", "ACEGKM"), (True, False))
    found = divide_and_conquer(there, tool)
    for names, verdict in expected.items():
        result = found.set_of(names)
        assert (result.unique, result.components_unique) == verdict, names
        general = uniqueness(there).set_of(names)
        assert (general.unique, general.components_unique) == verdict, names


def test_the_null_vector_lies_in_the_lower_rods(there: Placed) -> None:
    """(1, -1, -1, 1, 0, 0) along the rods (Eq 55: twelve numbers, then six zeros)."""
    found = divide_and_conquer(there, "nullspace")
    images = found.images()
    rod = there.origin[there.joints.index("B")] - there.origin[there.joints.index("A")]
    rod /= np.linalg.norm(rod)
    along = np.array([rod @ images[name][3:, 0] for name in "ACEGKM"])
    assert_allclose(along / along[0], (1, -1, -1, 1, 0, 0), atol=1e-9)
    for name in "ACEG":
        assert_allclose(np.cross(rod, images[name][3:, 0]), 0.0, atol=1e-9)


def test_the_steps_come_in_the_order_of_figures_9_to_17(there: Placed) -> None:
    """What each step finds on bodies; assemblies receive it as well."""
    found = divide_and_conquer(there, order=PAPERS_ORDER)
    assert [step.number for step in found.steps] == [1, 2, 3, 4, 5, 6, 7, 6, 7]
    figures = [{(at, joint): unique for at, joint, unique in step.found if at <= 10} for step in found.steps]
    empty, fig9, fig10, fig11, fig12, fig13, fig14, fig15, fig16 = figures
    lower = dict(zip(((1, "A"), (2, "C"), (3, "E"), (4, "G")), [False] * 4, strict=True))
    assert empty == {(10, ""): True}
    assert fig9 == {}
    on_the_ground = {joint: unique for at, joint, unique in found.steps[1].found if at == 19}
    assert on_the_ground == dict.fromkeys("ACEG", False) | dict.fromkeys("KM", True)
    assert fig10 == lower | {(5, "K"): True, (6, "M"): True}
    assert fig11 == {(10, "R"): True}
    assert fig12 == {(9, "R"): True}
    other_ends = {(1, "B"): False, (2, "D"): False, (3, "F"): False, (4, "H"): False, (5, "L"): True, (6, "N"): True}
    assert fig13 == other_ends | {(9, "Q"): True}
    assert fig14 == {(7, joint): unique for (_, joint), unique in other_ends.items()} | {(8, "Q"): True}
    assert fig15 == {(8, "P"): True}
    assert fig16 == {(7, "P"): True}


def test_the_assembly_is_chosen_or_given(there: Placed) -> None:
    given = assemble(there, PAPERS_ORDER)
    assert [len(given[number].bodies) for number in (12, 14, 19)] == [2, 3, 10]
    for number, joint in ((12, "Q"), (14, "P")):
        assert [there.joints[j] for j in given[number].handles if j != EMPTY] == [joint]
    assert given.roots == assemble(there).roots == (19,)
    assert given[19].Phi.shape == (42, 42)  # Eq 53: six handles on the ground and an empty one
    with pytest.raises(fm.ModelError, match="Give each of them once"):
        assemble(there, "BRD")


def test_a_chain_is_assembled_as_a_balanced_tree() -> None:
    assembled = assemble(put(read_model("branch_chain", {"bodies": 64})))
    depth: dict[int, int] = {}
    for one in assembled.each:
        depth[one.number] = 1 + max((depth[part] for part in one.parts or ()), default=0)
    assert max(depth.values()) <= 2 * np.log2(64) + 1


def test_with_three_lower_rods_everything_is_unique() -> None:
    there = put(read_model("parallelogram_pendulum", {"lower_rods": 3}))
    for tool in TOOLS:
        found = divide_and_conquer(there, tool)
        assert found.connections[0].rank == 15
        assert all(found.unique.values())
    assert uniqueness(there).redundant == 0


@pytest.mark.parametrize("theta", [0.1, 0.7, 1.3])
def test_the_verdict_is_the_same_wherever_the_parallelogram_stands(theta: float) -> None:
    found = fm.divide_and_conquer(read_model("parallelogram_pendulum", {"theta": theta}))
    assert found.unique == dict.fromkeys(LOOSE, False) | dict.fromkeys(TIGHT, True)


def test_what_is_weightless_and_at_rest_has_no_reactions(there: Placed) -> None:
    reactions = divide_and_conquer(there, own_inertias=True).reactions()
    assert_allclose(np.array(list(reactions.values())), 0.0, atol=1e-12)


def test_unique_reactions_are_those_that_the_core_has(there: Placed) -> None:
    """At rest, from G lambda = h and the back-substitution pass, with the bodies' own inertias and weight."""
    model = read_model("parallelogram_pendulum")
    solver = fm.Solver(model)
    solver.assemble()
    reactions = fm.divide_and_conquer(model, own_inertias=True, solver=solver).reactions()
    largest = max(np.abs(wrench).max() for wrench in reactions.values())
    for name in TIGHT:
        assert_allclose(reactions[name][3:], solver.get(f"{name}.reaction.f"), rtol=0, atol=1e-10 * largest)
    for some in ("ACEG", "BDFH"):  # the lower rods together, in world axes
        ours, cores = (
            sum(there.axes[there.joints.index(name)] @ force for name, force in one.items())
            for one in (
                {name: reactions[name][3:] for name in some},
                {name: solver.get(f"{name}.reaction.f") for name in some},
            )
        )
        assert_allclose(ours, cores, rtol=0, atol=1e-10 * largest)


# The numerical tools ----------------------------------------------------------------------------------------

EVIDENCE = {"rank": (17, 3, 15), "qr": (18, 1), "svd": (18, 1), "nullspace": (18, 1)}


@pytest.mark.parametrize("tool", TOOLS)
def test_a_tool_returns_its_evidence(there: Placed, tool: ToolName) -> None:
    """For A the ranks are 3 and 15 with 17 in all, so that it is not unique; for K they are 3 and 14."""
    (connection,) = divide_and_conquer(there, tool).connections
    result = connection.verdicts[there.joints.index("A")]
    assert result.tool == tool
    shape = result.evidence if tool == "rank" else result.evidence.shape
    assert shape == EVIDENCE[tool]
    if tool == "rank":
        r, r_T, r_R = connection.verdicts[there.joints.index("K")].evidence
        assert r == r_T + r_R == 3 + 14


@pytest.mark.parametrize("tool", ["qr", "svd"])
def test_the_evidence_is_G_T_times_the_rows_of_the_basis(there: Placed, tool: ToolName) -> None:
    """B n = 0 for all multipliers in the null space is equivalent to G_T N_T = 0 (Eqs 35, 43, 51)."""
    (connection,) = divide_and_conquer(there, tool).connections
    scale = np.sqrt(np.diag(connection.G))
    G = connection.G / np.outer(scale, scale)
    null = np.linalg.svd(G)[2][17:].T
    for joint, columns in connection.columns.items():
        expected = G[:, columns] @ null[columns]
        sign = np.sign(np.sum(expected * connection.verdicts[joint].evidence)) or 1.0
        assert_allclose(sign * connection.verdicts[joint].evidence, expected, atol=1e-9)


@pytest.mark.parametrize("tool", TOOLS)
def test_only_the_chosen_tool_is_used(there: Placed, tool: ToolName, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the others broken the verdict stands; with this one broken it falls."""

    def broken(G: np.ndarray, element: list[int]) -> tools.Verdict:
        raise ZeroDivisionError

    for other in TOOLS:
        if other != tool:
            monkeypatch.setitem(tools.TOOLS, other, broken)
    assert divide_and_conquer(there, tool).unique["A"] is False
    monkeypatch.setitem(tools.TOOLS, tool, lambda G, element: tools.Verdict(True, True, tool, None))
    assert divide_and_conquer(there, tool).unique["A"] is True
    monkeypatch.setitem(tools.TOOLS, tool, broken)
    with pytest.raises(ZeroDivisionError):
        divide_and_conquer(there, tool)


def test_a_tool_that_does_not_exist_is_refused(there: Placed) -> None:
    with pytest.raises(fm.ModelError, match="rank, qr, svd, nullspace"):
        divide_and_conquer(there, "lu")  # type: ignore[arg-type]


@pytest.mark.parametrize("tool", TOOLS)
def test_sets_are_examined_by_the_chosen_tool(there: Placed, tool: ToolName) -> None:
    found = divide_and_conquer(there, tool)
    for names in (["A"], ["A", "C"], ["K", "M"]):
        result = found.set_of(names)
        (connection,) = found.connections
        columns = [k for name in names for k in connection.columns[there.joints.index(name)]]
        assert result.tool == tool
        again = tools.examine(connection.G, columns, tool).evidence
        assert np.array_equal(result.evidence, again)


@pytest.mark.parametrize("seed", range(20))
def test_zero_singular_values_are_below_the_widest_gap_under_the_ceiling(seed: int) -> None:
    """G squares singular values: some of those that count are less than 1e-8."""
    rng = np.random.default_rng(seed)
    sure = [0.0, *np.sort(rng.uniform(-7.9, -6.0, rng.integers(1, 4)))[::-1]]
    doubtful = -8.1 - np.cumsum(rng.uniform(0.1, 0.4, rng.integers(0, 4)))
    zeros = [min([*sure, *doubtful]) - 2.8]
    while zeros[-1] > -13.0:
        zeros.append(zeros[-1] - rng.uniform(0.3, 1.5))
    values = 10.0 ** (rng.uniform(-3, 3) + np.array([*sure, *doubtful, *zeros]))
    assert tools.count(values) == len(sure) + len(doubtful)


@pytest.mark.parametrize("seed", range(4))
def test_each_tool_decides_by_its_own_decomposition(seed: int) -> None:
    """All tools give the same verdict, so the evidence is compared: (27), (35), (43), (51)."""
    rng = np.random.default_rng(seed)
    J = rng.normal(size=(12, 7))
    J[5:] = rng.normal(size=(7, 4)) @ J[1:5]  # 1 to 4 share their load with 5 to 11
    given = J @ J.T
    G = given / np.outer(np.sqrt(np.diag(given)), np.sqrt(np.diag(given)))
    element, r = [0, 3, 4, 8], 5
    others = [k for k in range(12) if k not in element]
    values, vectors = np.linalg.eigh(G)
    bases = {
        "qr": scipy.linalg.qr(G.T, pivoting=True)[0],
        "svd": np.linalg.svd(G)[2].T,
        "nullspace": vectors[:, np.argsort(-np.abs(values))],
    }
    expected = {tool: G[:, element] @ basis[element][:, r:] for tool, basis in bases.items()}
    expected["nullspace"] = bases["nullspace"][:, r:]
    result = {tool: tools.examine(given, element, tool) for tool in TOOLS}
    assert {one.tool for one in result.values()} == set(TOOLS)
    assert result["rank"].evidence == tuple(map(np.linalg.matrix_rank, (G, G[:, element], G[:, others])))
    found = {tool: result[tool].evidence for tool in expected}
    for tool in expected:
        nearest = min(expected, key=lambda other: _apart(found[tool], expected[other]))
        assert nearest == tool
        assert _apart(found[tool], expected[tool]) < 1e-8
    assert len({(one.unique, one.components_unique) for one in result.values()}) == 1


def _apart(one: np.ndarray, other: np.ndarray) -> float:
    """Largest difference, each column's sign being free."""
    signs = np.where(np.sum(one * other, axis=0) < 0.0, -1.0, 1.0)
    return float(np.abs(one - signs * other).max())


@pytest.mark.parametrize("tool", TOOLS)
def test_second_steps_on_a_matrix_made_for_them(tool: ToolName) -> None:
    """Multipliers 1 and 2 share a load, 3 is alone: 1 is not unique, 1 and 2 in total only, 3 with its components."""
    J = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 2.0]])
    G = J @ J.T
    result = {some: tools.examine(G, some, tool) for some in ((0,), (0, 1), (2,), (0, 1, 2))}
    verdicts = {some: (one.unique, one.components_unique) for some, one in result.items()}
    assert verdicts == {
        (0,): (False, False), (0, 1): (True, False), (2,): (True, True), (0, 1, 2): (True, False),
    }  # fmt: skip


# Its parts --------------------------------------------------------------------------------------------------


def test_the_main_pass_eliminates_what_a_joint_carries() -> None:
    """Phi of two rods on a hinge is that of the whole system, solved at once with the joint's multipliers."""
    there = put(read_model("double_pendulum"))
    assembled = assemble(there, own_inertias=True, gravity=(0, 0, -9.81))
    i, j, k = assembled.each
    joint = k.joint
    assert joint is not None
    S = modes(there, joint, assembled.length)
    T = np.linalg.svd(S)[0][:, S.shape[1] :]
    n = len(i.Phi) + len(j.Phi)
    Phi = np.zeros((n, n))
    Phi[: len(i.Phi), : len(i.Phi)], Phi[len(i.Phi) :, len(i.Phi) :] = i.Phi, j.Phi
    b = np.concatenate([i.b, j.b])
    C = np.zeros((6, n))
    C[:, i.rows([i.handles.index(joint)])] = -np.eye(6)
    C[:, [len(i.Phi) + row for row in j.rows([j.handles.index(joint)])]] = np.eye(6)
    C = T.T @ C
    project = Phi - Phi @ C.T @ np.linalg.solve(C @ Phi @ C.T, C @ Phi)
    biased = b - Phi @ C.T @ np.linalg.solve(C @ Phi @ C.T, C @ b)
    outer = [6 * h + c for h, owner in enumerate(i.handles) if owner != joint for c in range(6)]
    outer += [len(i.Phi) + 6 * h + c for h, owner in enumerate(j.handles) if owner != joint for c in range(6)]
    assert_allclose(k.Phi, project[np.ix_(outer, outer)], atol=1e-10 * np.abs(k.Phi).max())
    assert_allclose(k.b, biased[outer], atol=1e-10 * np.abs(k.b).max())


def test_a_loop_that_does_not_pass_the_ground_is_refused() -> None:
    """A four-bar whose coupler is connected to the ground: a multijoint connection inside."""
    with pytest.raises(fm.ModelError, match="Use the general method"):
        divide_and_conquer(put(suspended()))
    found = uniqueness(put(suspended()))
    assert found.redundant == 3
    loose = {joint.joint for joint in found.joints if not joint.unique}
    assert loose == {"A", "B", "C", "D"}


def suspended() -> fm.Model:
    model = fm.Model("hung")
    lengths = {"p": 1.0, "q": 2.0, "r": 1.5, "s": 2.2}
    bars = {name: fm.Body.rod(name, length=length, mass=1.0, radius=0.05) for name, length in lengths.items()}
    model.add(*bars.values(), fm.Spherical("G", model.ground.at(), bars["p"].base))
    model.add(fm.Revolute("A", bars["p"].base, bars["q"].base, axis="y", q0=-1.3))
    model.add(fm.Revolute("B", bars["q"].tip, bars["r"].base, axis="y", q0=1.0))
    model.add(fm.Revolute("C", bars["p"].tip, bars["s"].base, axis="y", q0=-1.0))
    model.add(fm.Revolute("D", bars["r"].tip, bars["s"].tip, axis="y"))
    return model


def test_several_assemblies_on_one_ground_are_examined_separately() -> None:
    model = fm.Model("two")
    for side, turned in (("l", "y"), ("r", "z")):
        door = fm.Body.box(f"door_{side}", size=(1, 1, 1), mass=1.0)
        model.add(door)
        for k in range(2):
            place = model.ground.at(*(k * np.eye(3)["xyz".index(turned)]))
            model.add(fm.Revolute(f"{side}{k}", place, door.at(*(k * np.eye(3)["xyz".index(turned)])), axis=turned))
    there = put(model)
    found = divide_and_conquer(there)
    assert [connection.rank for connection in found.connections] == [5, 5]
    assert not any(found.unique.values())
    assert uniqueness(there).redundant == 10


@given(platforms())
@settings(max_examples=25)
def test_random_platforms_by_all_tools(case: tuple[fm.Model, float]) -> None:
    model, _ = case
    try:
        there = put(model)
    except (fm.AssemblyError, fm.ModelError):
        return
    general = uniqueness(there)
    if general.gap.ratio < 1e6:
        return
    for tool in TOOLS:
        found = divide_and_conquer(there, tool)
        assert sum(len(one.G) - one.rank for one in found.connections) == general.redundant
        for joint in general.joints:
            assert found.unique[joint.joint] in (None, joint.unique)
