"""System: what it accepts, what it refuses, and that a refusal names both ends."""

import re
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import fmumbs as fm
from fmumbs.errors import ExportError, ModelError
from support.systems import fmu, speed_control


def described(folder: Path, name: str, variables: str, outputs: str, units: str = "") -> Path:
    """An FMU of a description alone: enough for whatever is checked before an engine runs."""
    text = (
        f'<fmiModelDescription fmiVersion="2.0" modelName="{name}" guid="{name}">'
        f'<CoSimulation modelIdentifier="{name}"/>'
        f"<UnitDefinitions>{units}</UnitDefinitions><ModelVariables>{variables}</ModelVariables>"
        f"<ModelStructure><Outputs>{outputs}</Outputs></ModelStructure></fmiModelDescription>"
    )
    with zipfile.ZipFile(folder / f"{name}.fmu", "w") as archive:
        archive.writestr("modelDescription.xml", text)
    return folder / f"{name}.fmu"


def scalar(name: str, number: int, causality: str, kind: str = "Real", **attributes: str) -> str:
    inside = "".join(f' {key}="{value}"' for key, value in attributes.items())
    return (
        f'<ScalarVariable name="{name}" valueReference="{number}" causality="{causality}"><{kind}{inside}/>'
        "</ScalarVariable>"
    )


def gain(folder: Path, name: str, dependencies: str | None = "1", kind: str = "Real", **units: str) -> Path:
    """An FMU with an input u and an output y."""
    u = {"unit": units["u"]} if "u" in units else {}
    y = {"unit": units["y"]} if "y" in units else {}
    variables = scalar("u", 0, "input", kind, start="0", **u) + scalar("y", 1, "output", kind, **y)
    listed = "" if dependencies is None else f' dependencies="{dependencies}"'
    return described(folder, name, variables, f'<Unknown index="2"{listed}/>', units.get("defined", ""))


def pair(one: Path, two: Path, **options: object) -> fm.System:
    system = fm.System("pair", stop=1.0, step=0.1)
    system.add("a", one, **options)
    system.add("b", two)
    return system


def refusal(system: fm.System) -> str:
    with pytest.raises((ModelError, ExportError)) as caught:
        system.check()
    return str(caught.value)


# What is accepted ------------------------------------------------------------------------------------------


def test_a_checked_system_has_types_units_and_times(fmus: Path) -> None:
    plan = speed_control(fmus, stop=0.3, step=0.1).check()
    assert (plan.step, plan.count, plan.stop, plan.notes) == (100_000_000, 3, 0.3, ())
    assert [str(link) for link in plan.links] == ["plant.A.qd -> pid.measured", "pid.u -> plant.A.tau"]
    assert plan.parts[1].starts == {"kp": 0.5, "setpoint": 10.0, "measured": 6.0}
    assert plan.recorded() == {
        "plant.A.q": "rad", "plant.D.q": "rad", "plant.solver.steps": "", "plant.A.qd": "rad/s", "pid.u": "N.m",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("source", "target", "factor", "offset"),
    [("deg", "rad", 0.017453292519943295, 0.0), ("rad/s", "rpm", 9.549296585513721, 0.0), ("kN", "N", 1000.0, 0.0),
     ("degC", "K", 1.0, 273.15), ("K", "degC", 1.0, -273.15), ("degF", "degC", 5 / 9, -32 * 5 / 9)],
)  # fmt: skip
def test_units_of_one_quantity_convert(source: str, target: str, factor: float, offset: float, tmp_path: Path) -> None:
    """Units by name, and units that an FMU defines with factor and offset."""
    own = (
        '<Unit name="degC"><BaseUnit K="1" offset="273.15"/></Unit>'
        f'<Unit name="degF"><BaseUnit K="1" factor="{5 / 9!r}" offset="{273.15 - 32 * 5 / 9!r}"/></Unit>'
    )
    one = gain(tmp_path, "one", "", y=source, defined=own)
    two = gain(tmp_path, "two", "", u=target, defined=own)
    system = pair(one, two)
    system.connect("a.y", "b.u")
    (link,) = system.check().links
    assert link.factor == pytest.approx(factor, rel=1e-14)
    assert link.offset == pytest.approx(offset, rel=1e-13, abs=1e-13)


def test_a_variable_without_a_unit_is_noted_and_can_be_given_one(tmp_path: Path) -> None:
    system = pair(gain(tmp_path, "one", ""), gain(tmp_path, "two", "", u="N"))
    system.connect("a.y", "b.u")
    (note,) = system.check().notes
    assert note == "a.y -> b.u: not checked, as a.y has no unit"
    system = pair(gain(tmp_path, "one", ""), gain(tmp_path, "two", "", u="N"), units={"y": "kN"})
    system.connect("a.y", "b.u")
    (link,) = system.check().links
    assert (link.factor, link.offset) == (1000.0, 0.0)


def test_an_output_that_its_list_frees_of_the_input_breaks_a_loop(tmp_path: Path) -> None:
    system = pair(gain(tmp_path, "direct", "1"), gain(tmp_path, "delayed", ""))
    system.connect("a.y", "b.u")
    system.connect("b.y", "a.u")
    assert len(system.check().links) == 2


# What is refused -------------------------------------------------------------------------------------------


def test_an_input_that_is_fed_twice_is_refused(fmus: Path) -> None:
    system = speed_control(fmus)
    with pytest.raises(ModelError, match=r"'plant.A.tau' is fed twice: by 'pid.u' and by 'plant.A.q'\."):
        system.connect("plant.A.q", "plant.A.tau")


def test_units_that_do_not_convert_are_refused(fmus: Path) -> None:
    system = fm.System("wrong", stop=1.0, step=0.1)
    system.add("one", fmu(fmus, "four_bar"))
    system.add("two", fmu(fmus, "four_bar"))
    system.connect("one.A.q", "two.A.tau")
    assert "'one.A.q' cannot feed 'two.A.tau': rad does not convert to N.m." in refusal(system)


@pytest.mark.parametrize(("y", "u"), [("rad", "smoot"), ("smoot", "rad"), ("smoot", "beard"), ("rad", "m"), ("m", "s")])
def test_a_unit_that_nothing_defines_converts_to_no_other(y: str, u: str, tmp_path: Path) -> None:
    system = pair(gain(tmp_path, "one", y=y), gain(tmp_path, "two", u=u))
    system.connect("a.y", "b.u")
    assert f"'a.y' cannot feed 'b.u': {y} does not convert to {u}." in refusal(system)


def test_types_that_differ_are_refused(tmp_path: Path) -> None:
    system = pair(gain(tmp_path, "one", "", "Integer"), gain(tmp_path, "two", ""))
    system.connect("a.y", "b.u")
    assert "'a.y' cannot feed 'b.u': Integer is not Real." in refusal(system)


def test_a_missing_fmu_is_refused_with_the_connection_that_needs_it(fmus: Path) -> None:
    system = speed_control(fmus)
    system.elements["pid"] = replace(system.elements["pid"], fmu=Path("nowhere.fmu"))
    text = refusal(system)
    assert "there is no FMU 'nowhere.fmu' for 'pid'." in text
    assert "'plant.A.qd' -> 'pid.measured'" in text


@pytest.mark.parametrize("lists", [True, False])
def test_an_algebraic_loop_is_refused(lists: bool, tmp_path: Path) -> None:
    """With lists of dependencies, and without, where all inputs count; feedthrough=False then breaks it."""
    dependencies = "1" if lists else None
    one, two = gain(tmp_path, "one", dependencies), gain(tmp_path, "two", dependencies)
    for feedthrough in (True, False):
        system = pair(one, two, feedthrough=feedthrough)
        system.connect("a.y", "b.u")
        system.connect("b.y", "a.u")
        if not lists and not feedthrough:
            system.check()
            continue
        text = refusal(system)
        assert "form an algebraic loop" in text
        assert "'a.y' -> 'b.u'" in text and "'b.y' -> 'a.u'" in text
        assert ("feedthrough=False" in text) == (not lists)


def test_a_loop_of_an_fmu_with_itself_and_one_of_twenty_are_refused(tmp_path: Path) -> None:
    direct = gain(tmp_path, "direct", "1")
    alone = fm.System("alone", stop=1.0, step=0.1)
    alone.add("a", direct)
    alone.connect("a.y", "a.u")
    assert "'a.y' -> 'a.u' form an algebraic loop" in refusal(alone)
    ring = fm.System("ring", stop=1.0, step=0.1)
    for i in range(20):
        ring.add(f"m{i}", direct)
    for i in range(20):
        ring.connect(f"m{i}.y", f"m{(i + 1) % 20}.u")
    assert refusal(ring).count("->") == 20


def test_our_own_accelerations_depend_on_torques_at_once(fmus: Path) -> None:
    """A gain from an acceleration to the torque of the same joint is a loop; one from a velocity is none."""
    for variable, loops in (("A.qdd", True), ("A.qd", False)):
        system = fm.System("loop", stop=1.0, step=0.1)
        system.add("plant", fmu(fmus, "four_bar"), outputs=[])
        system.add("pid", fmu(fmus, "pid"))
        system.connect(f"plant.{variable}", "pid.measured")
        system.connect("pid.u", "plant.A.tau")
        if loops:
            assert "'plant.A.qdd' -> 'pid.measured'" in refusal(system)
        else:
            system.check()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda s: s.connect("plant.A.qdd", "pid.mesured"), "has no input 'mesured'. The nearest name is 'measured'"),
        (lambda s: s.connect("plant.A.tau", "pid.setpoint"), "no output 'A.tau', which is of causality input"),
        (lambda s: s.add("two", s.elements["pid"].fmu, starts={"kq": 1}), "has no variable 'kq'"),
        (lambda s: s.add("two", s.elements["pid"].fmu, starts={"kp": "many"}), "'two.kp' is set to 'many'"),
        (lambda s: s.add("two", s.elements["pid"].fmu, starts={"kp": float("nan")}), "which is not finite"),
        (lambda s: s.add("two", s.elements["pid"].fmu, units={"u": "Nm"}), "cannot have the unknown unit 'Nm'"),
        (lambda s: s.add("two", s.elements["plant"].fmu, units={"A.q": "deg"}), "has the unit rad in its FMU, not deg"),
        (lambda s: s.add("two", s.elements["plant"].fmu, outputs=["A.p"]), "has no output 'A.p'"),
        (lambda s: s.add("two", s.elements["plant"].fmu, starts={"solver.scheme": 0.5}), "but is an integer"),
        (lambda s: vars(s).update(stop=0.0505), "is not a multiple of the step"),
        (lambda s: vars(s).update(step=1.5e-9), "is not a whole number of nanoseconds"),
        (lambda s: vars(s).update(step=1.0), "0.05 steps"),
        (lambda s: vars(s).update(stop=1e308), "inf steps of 0.001 s to 1e+308 s"),
        (lambda s: s.elements.clear() or s.connections.clear(), "has no elements"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_when_the_system_is_checked(change: object, message: str, fmus: Path) -> None:
    system = speed_control(fmus)
    change(system)
    assert message in refusal(system)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda s: s.add("pid", "a.fmu"), "already has an element 'pid'"),
        (lambda s: s.add("a.b", "a.fmu"), "Call it 'a_b'"),
        (lambda s: s.add("two", "a.fmu", outputs="A.q"), r"Give a list, such as \['A.q'\]"),
        (lambda s: s.add("two", "a.fmu", starts=[1]), "Give values by name"),
        (lambda s: s.add("two", "a.fmu", starts={1: 2.0}), "starts has the name 1. Give a text"),
        (lambda s: s.add("two", "a.fmu", units={"u": None}), r"units\['u'\] is None. Give a text such as 'rad/s'"),
        (lambda s: s.connect("plant", "pid.measured"), "is not an end of a connection"),
        (lambda s: s.connect("plan.A.q", "pid.setpoint"), "no element 'plan'. The nearest name is 'plant'"),
        (lambda s: fm.System("a b", stop=1.0, step=0.1), "Call it 'a_b'"),
        (lambda s: fm.System("a", stop=0.0, step=0.1), "stop"),
        (lambda s: fm.System("a", stop=1.0, step=-0.1), "step"),
    ],
)
def test_what_is_wrong_is_told_at_once(call: object, message: str, fmus: Path) -> None:
    with pytest.raises(ModelError, match=message):
        call(speed_control(fmus))


def test_a_file_that_is_not_an_fmu_is_refused(tmp_path: Path) -> None:
    (tmp_path / "bad.fmu").write_bytes(b"no")
    system = fm.System("bad", stop=1.0, step=0.1)
    system.add("bad", tmp_path / "bad.fmu")
    assert "bad.fmu' is not a zip archive" in refusal(system)


# Loops at random -------------------------------------------------------------------------------------------


@st.composite
def wirings(draw: st.DrawFn) -> tuple[list[tuple[str, bool]], list[tuple[int, int]]]:
    """Kind and feedthrough of each FMU (its list of dependencies: all, none, or missing), and connections i -> j."""
    kinds = draw(
        st.lists(st.tuples(st.sampled_from(["all", "none", "missing"]), st.booleans()), min_size=1, max_size=7)
    )
    feeds = draw(st.lists(st.none() | st.integers(0, len(kinds) - 1), min_size=len(kinds), max_size=len(kinds)))
    return kinds, [(i, j) for j, i in enumerate(feeds) if i is not None]


@given(wirings())
def test_a_loop_is_refused_exactly_if_a_walk_returns_to_where_it_began(gains: dict[str, Path], wiring: object) -> None:
    """Each FMU has one input, so from each a single walk leads back along the connections."""
    kinds, connections = wiring  # type: ignore[misc]
    system = fm.System("random", stop=1.0, step=0.1)
    for i, (kind, feedthrough) in enumerate(kinds):
        system.add(f"m{i}", gains[kind], feedthrough=feedthrough)
    for i, j in connections:
        system.connect(f"m{i}.y", f"m{j}.u")
    before = {j: i for i, j in connections}
    passes = [kind == "all" or (kind == "missing" and feedthrough) for kind, feedthrough in kinds]

    def returns(start: int) -> bool:
        at = start
        for _ in kinds:
            if not passes[at] or at not in before:
                return False
            at = before[at]
            if at == start:
                return True
        return False

    if not any(map(returns, range(len(kinds)))):
        system.check()
        return
    text = refusal(system)
    named = re.findall(r"'m(\d)\.y' -> 'm(\d)\.u'", text)
    assert named
    assert {(int(a), int(b)) for a, b in named} <= set(connections)
    assert {a for a, _ in named} == {b for _, b in named}
    assert all(passes[int(a)] for a, _ in named)


@pytest.fixture(scope="module")
def gains(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("gains")
    return {name: gain(folder, name, listed) for name, listed in {"all": "1", "none": "", "missing": None}.items()}
