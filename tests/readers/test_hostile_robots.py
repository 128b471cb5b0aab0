"""Files that are damaged or malicious: an error that names the file, no traceback, no expansion, no other file."""

from pathlib import Path

import numpy as np
import pytest

import fmumbs as fm
from support.robots import DATA

ARM = (DATA / "gripper_arm.urdf").read_bytes()
LINK = '<link name="a"><inertial><mass value="1"/></inertial>{}</link>'


def refused(folder: Path, data: str | bytes, message: str, suffix: str = "urdf") -> None:
    path = folder / f"r.{suffix}"
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    with pytest.raises(fm.ModelError, match=message):
        (fm.read_urdf if suffix == "urdf" else fm.read_mjcf)(path)


LAUGHS = "".join(f'<!ENTITY l{i} "{f"&l{i - 1};" * 10 if i else "ha"}">' for i in range(10))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "latin-1"])
@pytest.mark.parametrize(
    "entities", [LAUGHS, '<!ENTITY l9 SYSTEM "file:///etc/passwd">', '<!ENTITY % x SYSTEM "http://127.0.0.1/x"> %x;']
)
def test_entities_are_refused_in_any_encoding(entities: str, encoding: str, tmp_path: Path) -> None:
    text = f'<?xml version="1.0" encoding="{encoding}"?>{" " * 99}<!DOCTYPE robot [{entities}]><robot name="&l9;">'
    refused(tmp_path, (text + LINK.format("") + "</robot>").encode(encoding), "declares a document type or entities")


def test_entities_hidden_by_comments_or_other_encodings_are_not_expanded(tmp_path: Path) -> None:
    declared = '<!DOCTYPE robot [<!ENTITY e "x">]>'
    utf7 = declared.replace("<", "+ADw-").replace(">", "+AD4-")
    for text in (
        f'<!-- --><robot name="&e;">{LINK.format("")}</robot>',
        f'<?xml version="1.0" encoding="utf-7"?>{utf7}<robot name="&e;">{LINK.format("")}</robot>',
    ):
        path = tmp_path / "r.urdf"
        path.write_text(text)
        try:
            assert fm.read_urdf(path).source_names.get("x") is None
        except fm.ModelError as error:
            assert "r.urdf" in str(error)  # noqa: PT017
    refused(tmp_path, f"<!-- -->{declared}<robot/>", "declares a document type")


@pytest.mark.parametrize("cut", [0, 1, 50, 300, 1000, 2500, len(ARM) - 20, len(ARM) - 3])
def test_a_file_that_is_cut_off_is_refused(cut: int, tmp_path: Path) -> None:
    refused(tmp_path, ARM[:cut], r"r\.urdf'.*(cut off|not XML|no element)")


def test_what_is_not_xml_is_refused(tmp_path: Path) -> None:
    for data in (b"", b"\0" * 1000, b"\xff\xfe\xff\xff", b"PK\x03\x04 zip", b"<" * 5000, b"{}", bytes(range(256)) * 9):
        refused(tmp_path, data, r"r\.urdf'")
    with pytest.raises(fm.ModelError, match="cannot be read"):
        fm.read_urdf(tmp_path / "nothing.urdf")
    with pytest.raises(fm.ModelError, match="cannot be read"):
        fm.read_urdf(tmp_path)


def test_deep_and_wide_files_end(tmp_path: Path) -> None:
    refused(tmp_path, "<robot>" + "<link>" * 100_000, r"r\.urdf'")
    refused(tmp_path, "<robot " + "".join(f'a{i}="" ' for i in range(2_100_000)) + "/>", "more than 2000000 tags")
    (tmp_path / "r.urdf").write_bytes(b"<robot>" + b" " * (33 * 2**20))
    with pytest.raises(fm.ModelError, match="more than 33554432 bytes"):
        fm.read_urdf(tmp_path / "r.urdf")
    links = "".join(f'<link name="l{i}"/>' for i in range(3000))
    joints = "".join(
        f'<joint name="j{i}" type="fixed"><parent link="l{i}"/><child link="l{i + 1}"/></joint>' for i in range(2999)
    )
    (tmp_path / "r.urdf").write_text(f"<robot>{links}{joints}</robot>")
    assert fm.read_urdf(tmp_path / "r.urdf").joints == ()


SECRET = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"


def paths_to(outside: Path, inside: Path) -> list[str]:
    up = "../" * 20
    return [
        str(outside), f"file://{outside}", f"{up}{str(outside)[1:]}", f"package://robot/{up}{str(outside)[1:]}",
        f"package://../{outside.name}", f"package://robot/../../{outside.name}", f"model://..{outside}",
        f"package://robot/%2e%2e/%2e%2e/{outside.name}", "link.obj", f"..\\..\\..\\{outside.name}",
        f"file://localhost{outside}", f"package:///{str(outside)[1:]}",
    ]  # fmt: skip


def test_no_mesh_outside_of_the_given_folders_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not by a path of any kind, and not through a link."""
    pytest.importorskip("trimesh", reason="trimesh is not installed: pip install 'fmumbs[mesh]'")
    monkeypatch.delenv("ROS_PACKAGE_PATH", raising=False)
    outside = tmp_path / "secret.obj"
    outside.write_text(SECRET)
    folder = tmp_path / "a" / "b" / "c" / "d" / "robot" / "urdf"
    folder.mkdir(parents=True)
    (folder.parent / "package.xml").write_text("<package><name>robot</name></package>")
    (folder / "link.obj").symlink_to(outside)
    for name in paths_to(outside, folder):
        visual = f'<visual><geometry><mesh filename="{name}"/></geometry></visual>'
        (folder / "r.urdf").write_text(f"<robot name='r'>{LINK.format(visual)}</robot>")
        model = fm.read_urdf(folder / "r.urdf")
        assert not model.bodies[0].visual, name
        assert any("is not drawn" in row.text for row in model.reading.rows), name  # type: ignore[union-attr]


def test_a_mesh_leads_to_no_other_file(tmp_path: Path) -> None:
    """Materials of .obj are not read; entities of .dae are refused before its reader sees them."""
    pytest.importorskip("trimesh", reason="trimesh is not installed: pip install 'fmumbs[mesh]'")
    (tmp_path / "m.obj").write_text(f"mtllib ../../../../etc/passwd\nusemtl x\n{SECRET}")
    (tmp_path / "m.dae").write_text(f"<!DOCTYPE COLLADA [{LAUGHS}]><COLLADA>&l9;</COLLADA>")
    for name, count in (("m.obj", 1), ("m.dae", 0)):
        visual = f'<visual><geometry><mesh filename="{name}"/></geometry></visual>'
        (tmp_path / "r.urdf").write_text(f"<robot name='r'>{LINK.format(visual)}</robot>")
        assert len(fm.read_urdf(tmp_path / "r.urdf").bodies[0].visual) == count


def test_no_file_outside_of_the_given_folders_is_part_of_an_mjcf(tmp_path: Path) -> None:
    pytest.importorskip("mujoco", reason="mujoco is not installed: pip install 'fmumbs[mjcf]'")
    folder = tmp_path / "a" / "b" / "c" / "robot"
    folder.mkdir(parents=True)
    outside = tmp_path / "part.xml"
    outside.write_text("<mujoco><worldbody><body><freejoint/><geom size='0.1'/></body></worldbody></mujoco>")
    (tmp_path / "secret.obj").write_text(SECRET)
    (folder / "linked.xml").symlink_to(outside)
    for inside in (
        "<include file='../../../../part.xml'/>", f"<include file='{outside}'/>", "<include file='linked.xml'/>",
        "<asset><mesh name='m' file='../../../../secret.obj'/></asset>",
        "<compiler meshdir='../../../..'/><asset><mesh name='m' file='secret.obj'/></asset>",
        "<asset><model name='m' file='../../../../part.xml'/></asset>",
    ):  # fmt: skip
        path = folder / "r.xml"
        path.write_text(f"<mujoco>{inside}<worldbody/></mujoco>")
        with pytest.raises(fm.ModelError, match=r"line 1: '.*' is outside of the folders that may be read"):
            fm.read_mjcf(path)
    (folder / "r.xml").write_text("<mujoco><include file='../../../../part.xml'/></mujoco>")
    assert len(fm.read_mjcf(folder / "r.xml", folders=[tmp_path]).bodies) == 1


def test_circles_of_includes_end(tmp_path: Path) -> None:
    pytest.importorskip("mujoco", reason="mujoco is not installed: pip install 'fmumbs[mjcf]'")
    (tmp_path / "b.xml").write_text("<mujoco><include file='r.xml'/></mujoco>")
    refused(tmp_path, "<mujoco><include file='b.xml'/></mujoco>", "MuJoCo does not compile it", "xml")
    refused(tmp_path, f"<!DOCTYPE m [{LAUGHS}]><mujoco model='&l9;'/>", "declares a document type", "xml")


WORDS = [
    b"<", b">", b"/>", b'"', b"nan", b"1e400", b"-1", b"0 0 0", b"<link", b"</robot>", b"\0", b"\xff", b"&#0;", b"&x;",
    b"revolute", b"floating", b"world", b"<joint", b'name=""', b"1e-320", b"1e200", b"]]>", b"<!--", b"<![CDATA[",
]  # fmt: skip


@pytest.mark.parametrize("seed", [*range(4), *(pytest.param(s, marks=pytest.mark.slow) for s in range(4, 60))])
@pytest.mark.filterwarnings("ignore::fmumbs.StartWarning")
def test_damaged_files_are_read_or_refused(seed: int, tmp_path: Path) -> None:
    """Fifty damages each: bytes changed, pieces left out, doubled, or replaced by what may hurt."""
    generator = np.random.default_rng(seed)
    path = tmp_path / "r.urdf"
    for _ in range(50):
        data = bytearray(ARM)
        for _ in range(int(generator.integers(1, 5))):
            at, size = int(generator.integers(len(data))), int(generator.integers(1, 60))
            piece = [bytes(data[at : at + size]) * 2, b"", WORDS[generator.integers(len(WORDS))], generator.bytes(3)]
            data[at : at + size] = piece[generator.integers(4)]
        path.write_bytes(bytes(data))
        try:
            model = fm.read_urdf(path, massless="fix", meshes=False)
            fm.compile(model)
        except fm.ModelError as error:
            assert str(error)  # noqa: PT017
