"""Matrices from the files of CalculiX, Abaqus, Nastran and Exudyn: the same body from each; damaged files."""

import pickle
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import fmumbs as fm
from support import meshes, op4
from support.robots import DATA
from support.sweeps import first

ELEMENTS = DATA / "elements"
SINGLE = 1e-6  # digits of four bytes


@pytest.fixture(scope="module")
def rod() -> fm.Matrices:
    return fm.read_matrices(ELEMENTS / "rod.sti")


def lines(path: Path, *rows: Any) -> Path:
    path.write_text("".join(f"{row}\n" for row in rows))
    return path


def deck(path: Path, rod: fm.Matrices, numbers: Any = None) -> Path:
    named = rod.numbers if numbers is None else numbers
    return lines(path, "*HEADING", "** a comment", "*NODE, NSET=ALL",
                 *(f"{n}, {x!r}, {y!r}, {z!r}" for n, (x, y, z) in zip(named, rod.nodes.tolist(), strict=True)),
                 "*ELEMENT, TYPE=C3D10")  # fmt: skip


def abaqus(folder: Path, rod: fm.Matrices, style: str, numbers: Any = None) -> Path:
    """Files of *MATRIX OUTPUT: one triangle with labels, or both by row and column."""
    named = rod.numbers if numbers is None else numbers
    deck(folder / "job.inp", rod, named)
    for name, A in (("STIF1", rod.K), ("MASS1", rod.M)):
        rows = []
        for i, j, v in zip(*(part.tolist() for part in (A.tocoo().row, A.tocoo().col, A.tocoo().data)), strict=True):
            if style == "labels" and i >= j:
                rows.append(f"{named[i // 3]},{i % 3 + 1}, {named[j // 3]},{j % 3 + 1}, {v:.15e}")
            elif style == "coordinate":
                rows.append(f"{i + 1} {j + 1}  {v:.15e}")
        lines(folder / f"job_{name}.mtx", *rows)
    return folder / "job_STIF1.mtx"


def nastran(folder: Path, rod: fm.Matrices, form: tuple[Any, ...], turns: bool = True) -> Path:
    """Six freedoms a node, as the g-set has."""
    size = 6 * len(rod.nodes)
    at = np.flatnonzero(np.arange(size) % 6 < 3)
    full = {}
    for name, A in (("KGG", rod.K), ("MGG", rod.M)):
        full[name] = np.zeros((size, size))
        full[name][np.ix_(at, at)] = A.toarray()
    (folder / "job.op4").write_bytes(op4.op4(full, *form))
    lines(folder / "job.bdf", "BEGIN BULK",
          *(f"GRID,{n},,{x!r},{y!r},{z!r}" for n, (x, y, z) in zip(rod.numbers, rod.nodes.tolist(), strict=True)))
    return folder / "job.op4"


def same(found: fm.Matrices, wanted: fm.Matrices, rtol: float = 1e-14) -> None:
    for one, other in ((found.K, wanted.K), (found.M, wanted.M)):
        assert_allclose(one.toarray(), other.toarray(), rtol=0, atol=rtol * abs(other).max())
    assert_allclose(found.nodes, wanted.nodes, rtol=1e-12, atol=1e-15)


def test_calculix_files_give_the_block_of_its_deck(rod: fm.Matrices) -> None:
    """Closed forms: mass, centre, and the matrices of scikit-fem."""
    skfem = pytest.importorskip("skfem")
    assert len(rod.nodes) == 27
    body = fm.ModalBody.from_matrices("rod", K=rod.K, M=rod.M, nodes=rod.nodes, interfaces={}, modes=3, damping=0.0)
    assert_allclose(body.mass, 7850 * 0.2 * 0.02 * 0.012, rtol=1e-12)
    assert_allclose(body.com, (0.1, 0.01, 0.006), rtol=1e-12)
    from fmumbs.finite_elements.solid import solid

    assert skfem
    text = (ELEMENTS / "rod.inp").read_text().split("*ELEMENT, TYPE=C3D10, ELSET=ROD\n")[1].split("*")[0]
    cells = np.array([line.split(",")[1:] for line in text.splitlines()], int) - 1
    K = solid(rod.nodes, cells, 2.1e11, 0.3, 7850.0, "rod").K
    assert_allclose(rod.K.toarray(), K.toarray(), rtol=0, atol=1e-12 * abs(K).max())


@pytest.mark.parametrize("style", ["labels", "coordinate"])
def test_abaqus_files_give_what_was_written(style: str, rod: fm.Matrices, tmp_path: Path) -> None:
    numbers = 10 + 3 * np.arange(27)
    found = fm.read_matrices(abaqus(tmp_path, rod, style, numbers))
    same(found, rod)
    assert_array_equal(found.numbers, numbers)
    assert found.at([13, 10]) == [1, 0]
    assert found.at(16) == [2]
    with pytest.raises(fm.ModelError, match="no node 11; numbers are 10 to 88"):
        found.at([10, 11])


def test_nodes_in_any_order_and_part_of_a_deck_with_more(rod: fm.Matrices, tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    numbers = rng.permutation(500)[:27] + 1
    path = abaqus(tmp_path, rod, "labels", numbers)
    inner = lines(tmp_path / "nodes.inp", "*Node", *(tmp_path / "job.inp").read_text().splitlines()[3:-1])
    lines(tmp_path / "job.inp", f"*INCLUDE, INPUT={inner.name}", "*Nset, nset=A", "1, 2", "*NODE", "600, 1.0")
    found = fm.read_matrices(path)
    assert_array_equal(found.numbers, np.sort(numbers))
    rows = found.at(numbers)
    at = (3 * np.array(rows)[:, None] + np.arange(3)).ravel()
    assert_allclose(found.K.toarray()[np.ix_(at, at)], rod.K.toarray(), rtol=1e-14)
    assert_allclose(found.nodes[rows], rod.nodes, rtol=1e-14)


@pytest.mark.parametrize("form", op4.FORMATS, ids=str)
def test_nastran_files_give_what_was_written(form: tuple[Any, ...], rod: fm.Matrices, tmp_path: Path) -> None:
    found = fm.read_matrices(nastran(tmp_path, rod, form))
    same(found, rod, 1e-14 if form[3] == "double" else SINGLE)
    assert found.K.shape == rod.K.shape  # without rotations


def test_nastran_beams_keep_their_rotations(tmp_path: Path) -> None:
    mesh = meshes.beam(4, 1.0, 10.0, 1e4, 5.0, 2.0, 1e-3, consistent=True)
    (tmp_path / "b.op4").write_bytes(op4.op4({"KAA": mesh.K, "MAA": mesh.M}, "strings", "<", 4, "double"))
    found = fm.read_matrices(tmp_path / "b.op4", nodes=mesh.nodes, names=("kaa", "maa"))
    assert_allclose(found.K.toarray(), mesh.K, rtol=1e-15)


@pytest.mark.parametrize(
    "card",
    [
        "GRID    7               1.5     -2.5-3  3.E+1", "GRID,7,,1.5,-2.5-3,3.D+1", "GRID,7,0,1.5,-.0025,30.,0",
        "GRID*                  7                             1.5         -2.5E-3\n*                   30.0",
    ],
)  # fmt: skip
def test_grid_entries_of_each_kind(card: str, tmp_path: Path) -> None:
    from fmumbs.readers.nastran import bulk_nodes

    assert bulk_nodes(lines(tmp_path / "a.bdf", "$ nodes", card, "ENDDATA")) == {7: (1.5, -0.0025, 30.0)}


def test_exudyn_files_give_what_calculix_did(rod: fm.Matrices) -> None:
    same(fm.read_matrices(ELEMENTS / "rod.npz"), rod)


def test_units_are_those_of_the_file(rod: fm.Matrices, tmp_path: Path) -> None:
    """A body with rotations in mm, N and tonnes."""
    mesh = meshes.beam(3, 1.0, 10.0, 1e4, 5.0, 2.0, 1e-3, consistent=True)
    size = np.tile([1e3] * 3 + [1.0] * 3, 4)  # mm per metre of each freedom: energies in N.mm
    K, M = (1e3 * A / np.outer(size, size) for A in (mesh.K, mesh.M))
    (tmp_path / "b.op4").write_bytes(op4.op4({"KGG": K, "MGG": M}, "dense", "<", 4, "double"))
    found = fm.read_matrices(tmp_path / "b.op4", nodes=1e3 * mesh.nodes, units=(1e-3, 1e3))
    assert_allclose(found.K.toarray(), mesh.K, rtol=1e-12, atol=1e-12)
    assert_allclose(found.M.toarray(), mesh.M, rtol=1e-12, atol=1e-18)
    assert_allclose(found.nodes, mesh.nodes, rtol=1e-15)


def copied(folder: Path) -> Path:
    for path in ELEMENTS.glob("rod.*"):
        shutil.copy(path, folder)
    return folder / "rod.sti"


def changed(path: Path, line: int, text: str | None) -> None:
    """One line is another; None: it is left out."""
    rows = path.read_text().splitlines()
    rows[line - 1 : line] = [] if text is None else [text]
    lines(path, *rows)


CALCULIX = [
    ("rod.sti", 5, "1 x 0.0", r"rod\.sti', line 5: '1 x 0\.0' is not a row of numbers\. Write it again\."),
    ("rod.sti", 7, "1 4", r"rod\.sti', line 7: it has 2 numbers, but must have 3"),
    ("rod.sti", 7, "1.5 4 0.0", r"rod\.sti', line 7: a number of a row is not whole"),
    ("rod.sti", 7, "1 4 nan", r"rod\.sti', line 7: .*not finite"),
    ("rod.sti", 3, None, r"rod\.mas': its entries are not those of 'rod\.sti'"),
    ("rod.dof", 4, "2.7", r"rod\.dof', line 4: freedom 7 of node 2 is neither a translation nor a rotation"),
    ("rod.dof", 4, "2", r"rod\.dof', line 4: '2' is not node\.direction"),
    ("rod.dof", 4, "1.1", r"rod\.dof': it has freedom 1 of node 1 twice"),
    ("rod.dof", 81, None, r"rod\.sti': it has row .* but there are 80 freedoms"),
    ("rod.inp", 3, None, r"rod\.inp': it has no coordinates of node 2, whose freedoms"),
    ("rod.inp", 3, "2, a, 0, 0", r"rod\.inp', line 3: '2, a, 0, 0' is not a node"),
    ("rod.inp", 3, "2, inf, 0, 0", r"rod\.inp', line 3: a coordinate of node 2 is not finite"),
    ("rod.inp", 3, "1, 5.0, 0, 0", r"rod\.inp', line 3: node 1 has two places"),
    ("rod.inp", 1, "*NODE, SYSTEM=C", r"rod\.inp', line 1: \*NODE is not read"),
    ("rod.inp", 1, "*NGEN", r"rod\.inp', line 1: \*NGEN is not read"),
    ("rod.inp", 1, "*INCLUDE, INPUT=rod.inp", "names no file, or itself"),
    ("rod.inp", 1, "*INCLUDE, INPUT=no.inp", r"no\.inp' cannot be read"),
    ("rod.inp", 1, "*MATERIAL", r"rod\.inp': it has no \*NODE"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "line", "text", "message"), CALCULIX)
def test_damaged_files_of_calculix_are_named(name: str, line: int, text: Any, message: str, tmp_path: Path) -> None:
    path = copied(tmp_path)
    changed(tmp_path / name, line, text)
    with pytest.raises(fm.ModelError, match=message):
        fm.read_matrices(path)


def test_rows_of_calculix_come_in_any_order(rod: fm.Matrices, tmp_path: Path) -> None:
    """As its own renumbering may leave them."""
    path = copied(tmp_path)
    order = np.random.default_rng(4).permutation(81)
    freedoms = (tmp_path / "rod.dof").read_text().split()
    lines(tmp_path / "rod.dof", *(freedoms[k] for k in order))
    place = np.argsort(order) + 1
    for name in ("rod.sti", "rod.mas"):
        rows = [line.split() for line in (tmp_path / name).read_text().splitlines()]
        lines(tmp_path / name, *(f"{place[int(i) - 1]} {place[int(j) - 1]} {v}" for i, j, v in rows))
    same(fm.read_matrices(path), rod, 0.0)


@pytest.mark.parametrize("name", ["rod.sti", "rod.mas"])
def test_a_last_number_that_is_cut_off_is_refused(name: str, tmp_path: Path) -> None:
    path = copied(tmp_path)
    target = tmp_path / name
    target.write_bytes(target.read_bytes()[:-5])
    with pytest.raises(fm.ModelError, match=rf"{name}': it is cut off in its last line"):
        fm.read_matrices(path)


@pytest.mark.parametrize("ending", ["mas", "dof", "inp"])
def test_files_that_are_missing_are_named(ending: str, tmp_path: Path) -> None:
    path = copied(tmp_path)
    (tmp_path / f"rod.{ending}").unlink()
    with pytest.raises(fm.ModelError, match=rf"is not beside it: there is no 'rod\.{ending}'"):
        fm.read_matrices(path)


@pytest.mark.parametrize(
    ("name", "message"),
    [("a.mnf", "modal neutral file, whose format is not public"), ("a.op2", "Nastran op2 file"), ("a.OP2", "op2 file"),
     ("a.txt", r"ending '\.txt', but \.sti, \.mtx, \.op4, \.npz are read"), ("a.sti", "cannot be read"),
     ("a.pkl", "Save as")],
)  # fmt: skip
def test_other_files_are_refused_by_name(name: str, message: str, tmp_path: Path) -> None:
    if name != "a.sti":
        (tmp_path / name).write_bytes(b"x\n")
    else:
        for other in ("a.mas", "a.dof", "a.inp"):
            lines(tmp_path / other, "1.1")
    with pytest.raises(fm.ModelError, match=message):
        fm.read_matrices(tmp_path / name)


def test_what_abaqus_files_lack_is_named(rod: fm.Matrices, tmp_path: Path) -> None:
    path = abaqus(tmp_path, rod, "labels")

    def refused(message: str, **more: Any) -> None:
        with pytest.raises(fm.ModelError, match=message):
            fm.read_matrices(path, **more)
        abaqus(tmp_path, rod, "labels")

    rows = path.read_text().splitlines()
    lines(path, *(row for row in rows if not row.startswith("5,2") and ", 5,2" not in row))
    refused(r"lacks freedom 2 of node 5|freedom 2 of node 5 has mass, but no stiffness")
    lines(path, *rows, rows[4])
    refused("it has row .* twice")
    lines(path, *rows, "5,8, 5,8, 1.0")
    refused("has a freedom that is neither")
    lines(path, *rows[:-1])
    refused("the stiffness of freedom 3 of node 27 on the diagonal is missing")
    mass = tmp_path / "job_MASS1.mtx"
    lines(mass, *(row for row in mass.read_text().splitlines() if not row.startswith("27,")))
    refused("node 27, the last one, has no mass")
    abaqus(tmp_path, rod, "coordinate")
    coordinate = path.read_text()
    abaqus(tmp_path, rod, "labels")
    path.write_text(coordinate)
    refused("its format is not that of")
    path.write_text("%%MatrixMarket matrix coordinate real symmetric\n")
    refused(r"give scipy\.io\.mmread|Give scipy\.io\.mmread")
    refused(r"it has 27 nodes, but nodes= has the shape \(2, 3\)", nodes=np.zeros((2, 3)))


def test_rows_by_count_need_the_nodes_of_the_run(rod: fm.Matrices, tmp_path: Path) -> None:
    path = abaqus(tmp_path, rod, "coordinate")
    deck(tmp_path / "job.inp", rod)
    lines(tmp_path / "job.inp", *(tmp_path / "job.inp").read_text().splitlines()[:-1], "90, 0, 0, 0")
    with pytest.raises(fm.ModelError, match="it has 81 rows, but 28 nodes have 84 or 168"):
        fm.read_matrices(path)
    text = path.read_text().splitlines()
    k = next(n for n, row in enumerate(text) if row.split()[:2] == ["2", "1"])
    text[k] = f"2 1  {2.0 * float(text[k].split()[2]) + 1e9}"
    lines(path, *text)
    with pytest.raises(fm.ModelError, match=r"not symmetric: row (1|2), column (1|2)"):
        fm.read_matrices(path, nodes=rod.nodes)


def test_records_that_do_not_end_with_their_length_are_named(rod: fm.Matrices, tmp_path: Path) -> None:
    path = nastran(tmp_path, rod, ("strings", "<", 4, "double"))
    data = bytearray(path.read_bytes())
    data[28] ^= 1  # of the header
    path.write_bytes(data)
    with pytest.raises(fm.ModelError, match=r"job\.op4': byte 1: a record does not end with its length"):
        fm.read_matrices(path)


NASTRAN = [
    ("GRID,3,,0.,0.,0.,2", "node 3 has its own coordinate system"),
    ("GRID,3,1,0.,0.,0.", "node 3 has its own coordinate system"),
    ("GRID,3,,0.,zero,0.", "is not a GRID with a number and coordinates"),
    ("GRID,2,,0.,0.,0.", "node 2 stands twice"),
    ("INCLUDE 'more.bdf'", "INCLUDE is not read"),
    ("SPOINT,99", "SPOINT is not read"),
    ("$ no third node", "KGG has 162 rows and MGG 162, but 26 nodes have 156"),
]


@pytest.mark.parametrize(("card", "message"), NASTRAN)
def test_what_nastran_files_lack_is_named(card: str, message: str, rod: fm.Matrices, tmp_path: Path) -> None:
    path = nastran(tmp_path, rod, ("strings", "<", 4, "double"))
    changed(tmp_path / "job.bdf", 4, card)
    with pytest.raises(fm.ModelError, match=message):
        fm.read_matrices(path)


def test_matrices_of_another_name_are_listed(rod: fm.Matrices, tmp_path: Path) -> None:
    path = nastran(tmp_path, rod, ("dense", "text", 4, "double"))
    with pytest.raises(fm.ModelError, match="0 matrices KAA; its matrices are KGG, MGG"):
        fm.read_matrices(path, names=("KAA", "MAA"))


class Evil:
    def __reduce__(self) -> Any:
        return (print, ("run",))


def test_a_pickle_that_runs_code_is_refused(tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "a.npz"
    np.savez(path, nodes=np.array(Evil(), object), stiffnessMatrix=np.zeros(1), massMatrix=np.zeros(1))
    assert b"builtins" in pickle.dumps(Evil())
    with pytest.raises(fm.ModelError, match=r"a\.npz': nodes is damaged, or has what is not read: .*print"):
        fm.read_matrices(path)
    assert capsys.readouterr().out == ""


def test_what_exudyn_files_lack_is_named(tmp_path: Path) -> None:
    path = tmp_path / "rod.npz"
    for left_out in ("nodes", "massMatrix"):
        with zipfile.ZipFile(ELEMENTS / "rod.npz") as old, zipfile.ZipFile(path, "w") as new:
            for name in old.namelist():
                if name != f"{left_out}.npy":
                    new.writestr(name, old.read(name))
        with pytest.raises(fm.ModelError, match=f"it has no {left_out}"):
            fm.read_matrices(path)


MAKERS: dict[str, Callable[[Path, fm.Matrices], Path]] = {
    "calculix": lambda folder, _: copied(folder),
    "labels": lambda folder, rod: abaqus(folder, rod, "labels"),
    "coordinate": lambda folder, rod: abaqus(folder, rod, "coordinate"),
    "text": lambda folder, rod: nastran(folder, rod, ("strings", "text", 4, "double")),
    "binary": lambda folder, rod: nastran(folder, rod, ("bigmat", ">", 4, "double")),
    "dense": lambda folder, rod: nastran(folder, rod, ("dense", "<", 8, "double")),
    "exudyn": lambda folder, _: copied(folder).with_suffix(".npz"),
}


@pytest.mark.parametrize("kind", MAKERS)
@pytest.mark.parametrize("seed", first(1, range(60)))
def test_files_that_are_cut_off_are_refused(kind: str, seed: int, rod: fm.Matrices, tmp_path: Path) -> None:
    """Anywhere, and at the end of any line."""
    rng = np.random.default_rng(seed)
    path = MAKERS[kind](tmp_path, rod)
    whole = path.read_bytes()
    ends = np.flatnonzero(np.frombuffer(whole, "u1") == ord("\n"))[:-1] + 1
    cuts = [int(rng.integers(len(whole))), int(len(whole) * (1.0 - rng.random() ** 4))]
    cuts += [] if kind in ("binary", "dense", "exudyn") else [int(rng.choice(ends)), int(ends[-1])]
    for cut in cuts:
        path.write_bytes(whole[:cut])
        with pytest.raises(fm.ModelError, match=tmp_path.name):
            fm.read_matrices(path)


@pytest.mark.parametrize("kind", MAKERS)
@pytest.mark.parametrize("seed", first(1, range(100)))
def test_damaged_files_are_read_or_refused(kind: str, seed: int, rod: fm.Matrices, tmp_path: Path) -> None:
    """Nothing but a ModelError, whatever bytes are changed, left out or added; what is read has the right shape."""
    rng = np.random.default_rng(seed)
    path = MAKERS[kind](tmp_path, rod)
    files = [f for f in tmp_path.iterdir() if f.suffix != ".npz" or kind == "exudyn"]
    target = files[int(rng.integers(len(files)))]
    whole = bytearray(target.read_bytes())
    for _ in range(int(rng.integers(1, 4))):
        at = int(rng.integers(len(whole)))
        size = int(rng.integers(1, 9))
        what = rng.integers(3)
        known = rng.choice(list(b"0123456789 .,-\n"), size).astype("u1").tobytes()
        new = bytes(rng.integers(0, 256, size, "u1")) if rng.random() < 0.5 else known
        whole[at : at + (0 if what == 0 else size)] = b"" if what == 1 else new
    target.write_bytes(whole)
    try:
        found = fm.read_matrices(path)
    except fm.ModelError as error:
        assert tmp_path.name in str(error)  # noqa: PT017
        return
    assert found.K.shape == found.M.shape
    assert len(found.nodes) == len(found.numbers)
    assert np.isfinite(found.nodes).all()
