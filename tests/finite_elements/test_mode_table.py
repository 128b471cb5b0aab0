"""The table of modes: the same in Python, in `fmumbs info` of a model and an FMU, and in the FMU's documentation."""

import json
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
import pytest

import fmumbs as fm
from fmumbs.compiler import compile
from fmumbs.finite_elements.mode_table import HEADINGS, cells
from support import meshes
from support.commands import fmumbs


def beam(**changes: Any) -> fm.ModalBody:
    options = {"length": 1.2, "EI": 30.0, "mass": 0.7, "modes": 3, "damping_ratio": 0.01} | changes
    return fm.ModalBody.beam("beam", **options)


def model() -> fm.Model:
    """A beam in a plane that is not the body's first, and a solid whose table has interface modes and others."""
    mesh = meshes.block((4, 1, 1), (0.5, 0.03, 0.02))
    solid = fm.ModalBody.from_matrices(
        "solid", K=mesh.K, M=mesh.M, nodes=mesh.nodes, interfaces={"base": mesh.ends[0], "tip": mesh.ends[1]}, modes=3,
        damping=0.02, frame="base",
    )  # fmt: skip
    flat = beam(plane="xz", stiffening=True)
    made = fm.Model("tables")
    made.add(flat, fm.Revolute("A", made.ground.at(), flat.base, axis="y"))
    made.add(solid, fm.Revolute("B", flat.tip, solid.point("base"), axis="y"))
    return made


def test_the_image_has_the_rows_of_the_bodies() -> None:
    made = model()
    tables = compile(made).modes
    assert set(tables) == {"beam", "solid"}
    for body in made.bodies:
        assert isinstance(body, fm.ModalBody)
        for one, other in zip(tables[body.name], body.table, strict=True):
            assert (one.kind, one.frequency, one.damping) == (other.kind, other.frequency, other.damping)
            for what in ("participation", "effective_mass", "share"):
                assert getattr(one, what) == pytest.approx(getattr(other, what), rel=1e-12, abs=1e-15)


def test_modes_of_a_beam_in_space_have_their_kinds() -> None:
    made = beam(plane=None, axial_inertia=1e-3, twist=2, GJ=5.0, stretch=1, EA=1e4)
    assert sorted(row.kind for row in made.table) == ["bending"] * 6 + ["extension"] + ["torsion"] * 2
    clamped = made.table[0]
    assert clamped.effective_mass[1] + clamped.effective_mass[2] == pytest.approx(0.6131 * 0.7, rel=1e-3)


def test_participation_in_a_frame_without_momentum_is_zero() -> None:
    mesh = meshes.block((3, 1, 1), (0.5, 0.03, 0.02))
    body = fm.ModalBody.from_matrices(
        "b", K=mesh.K, M=mesh.M, nodes=mesh.nodes, interfaces={"base": mesh.ends[0]}, modes=4, damping=0.0
    )
    assert all(row.participation == (0.0,) * 6 and row.share == (0.0,) * 3 for row in body.table)


def test_signs_do_not_follow_those_of_the_eigenvectors() -> None:
    """The largest coordinate of each mode is positive."""
    body = beam()
    turned = np.diag([-1.0, 1.0, -1.0])
    parts = {
        "shape_mass": turned @ np.array(body.shape_mass), "stiffness": body.stiffness, "modal_mass": body.modal_mass,
        "shape_moment": np.einsum("jk,kab->jab", turned, body.shape_moment),
    }  # fmt: skip
    other = fm.ModalBody("b", mass=body.mass, com=body.com, inertia=body.inertia, plane="xy", **parts)
    for one, two, sign in zip(body.table, other.table, np.diag(turned), strict=True):
        assert two.participation == pytest.approx(sign * np.array(one.participation), rel=1e-12)


def test_a_mode_without_mass_has_no_table() -> None:
    body = fm.ModalBody(
        "b", mass=1.0, inertia=(1.0, 1.0, 1.0), points={"p": (1, 0, 0)}, shapes={"p": np.eye(2, 3)},
        stiffness=(5.0, 6.0), shape_mass=np.zeros((2, 3)), shape_moment=np.zeros((2, 3, 3)), modal_mass=(1.0, 0.0),
    )  # fmt: skip
    assert body.table == ()
    made = fm.Model("m")
    made.add(body, fm.Revolute("J", made.ground.at(), body.at(1, 0, 0)))
    assert compile(made).modes == {"b": ()}


class Tables(HTMLParser):
    """Cells of the rows behind each heading of modes."""

    def __init__(self) -> None:
        super().__init__()
        self.found: dict[str, list[list[str]]] = {}
        self.tag, self.rows = "", None

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tag = tag
        if tag == "tr" and self.rows is not None:
            self.rows.append([])
        if tag in ("td", "th") and self.rows:
            self.rows[-1].append("")

    def handle_data(self, data: str) -> None:
        if self.tag == "h2":
            name = data.removeprefix("Modes of ").split()[0]
            self.rows = self.found.setdefault(name, []) if data.startswith("Modes of ") else None
        elif self.tag in ("td", "th") and self.rows:
            self.rows[-1][-1] += data

    def handle_endtag(self, tag: str) -> None:
        self.tag = ""


@pytest.mark.parametrize("fmi", [2, 3])
def test_info_and_the_documentation_of_the_fmu_have_the_table(tmp_path: Path, fmi: int) -> None:
    made = model()
    path = fm.export_fmu(made, tmp_path / "m.fmu", fmi=fmi)
    reader = Tables()
    with ZipFile(path) as archive:
        reader.feed(archive.read("documentation/index.html").decode())
    facts = json.loads(fmumbs("info", str(path), "--json").output)
    text = fmumbs("info", str(path)).output
    tables = compile(made).modes
    for body, rows in tables.items():
        texts = cells(rows)
        assert reader.found[body] == [list(HEADINGS), *map(list, texts)]
        assert [one["frequency"] for one in facts["modes"][body]] == [row.frequency for row in rows]
        assert f"modes of {body}" in text
        assert all(row[0] in text and row[1] in text for row in texts)


def test_other_fmus_have_none(tmp_path: Path) -> None:
    made = fm.Model("plain")
    made.add(fm.Body.rod("b", length=1.0, mass=1.0))
    made.add(fm.Revolute("J", made.ground.at(), made.bodies[0].at()))
    path = fm.export_fmu(made, tmp_path / "m.fmu")
    with ZipFile(path) as archive:
        assert b"Modes of" not in archive.read("documentation/index.html")
    assert json.loads(fmumbs("info", str(path), "--json").output)["modes"] == {}
