"""xacro: macros and arguments are expanded before the robot is read."""

from pathlib import Path

import pytest

import fmumbs as fm
from fmumbs.readers import build_parameters, read_model
from support.robots import DATA

pytest.importorskip("xacrodoc", reason="xacrodoc is not installed: pip install 'fmumbs[xacro]'")

CHAIN = DATA / "arm.urdf.xacro"


def test_macros_properties_and_arguments_are_expanded() -> None:
    model = fm.read_urdf(CHAIN)
    assert [body.name for body in model.bodies] == ["first", "second"]
    assert model["first"].mass == 1.5  # type: ignore[attr-defined]
    assert model["second_joint"].F.X_BP.offset == (0.4, 0.0, 0.0)  # type: ignore[attr-defined]
    assert fm.read_urdf(CHAIN, arguments={"mass": 3})["second"].mass == 3.0  # type: ignore[attr-defined]
    fm.simulate(model, stop=0.1)


def test_the_commands_settings_are_the_readers_or_the_files() -> None:
    assert build_parameters(str(CHAIN))[1]
    model = read_model(str(CHAIN), {"mass": 2.5, "base": "free"})
    assert model["first"].mass == 2.5  # type: ignore[attr-defined]


def test_included_files_are_found_beside_the_file_and_in_packages(tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "rod.xacro").write_bytes(CHAIN.read_bytes())
    head = '<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:include filename="{}"/></robot>'
    path = tmp_path / "r.xacro"
    for name in ("parts/rod.xacro", "$(find parts)/rod.xacro", "$(find other)/rod.xacro"):
        path.write_text(head.format(name))
        model = fm.read_urdf(path, packages={"other": tmp_path / "parts"})
        assert [body.name for body in model.bodies] == ["first", "second"]


@pytest.mark.parametrize(
    "text", ["<robot", "<robot name='r'>${1/0}</robot>", "<robot><xacro:include filename='no.xacro'/></robot>",
             "<robot>$(find nowhere)</robot>", "<robot name='${nothing}'/>"]
)  # fmt: skip
def test_what_cannot_be_expanded_is_refused(text: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "r.xacro"
    path.write_text(text.replace("<robot", '<robot xmlns:xacro="http://www.ros.org/wiki/xacro"', 1))
    with pytest.raises(fm.ModelError, match=r"r\.xacro'"):
        fm.read_urdf(path)
    with pytest.raises(fm.ModelError, match="there is no such file"):
        fm.read_urdf(tmp_path / "no.xacro")
