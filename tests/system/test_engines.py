"""The engines: to the same numbers as each other and as a loop over Solver and controller, which shares no code."""

import shutil
import sys
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fmumbs as fm
from fmumbs.errors import Interrupted, SolverError
from fmumbs.readers import read_model
from fmumbs.system.interface import read_interface
from support.scripts import load
from support.systems import EXAMPLES, fmu, speed_control

ENGINES = ("libcosim", "fmpy")
SAME = 1e-9  # relative to the largest value: the engines add up the times differently, by their last bits


def same(one: fm.Result, two: fm.Result) -> None:
    assert one.names == two.names
    assert one.units == two.units
    assert_allclose(one.time, two.time, rtol=0, atol=1e-12)
    for name in one:
        assert_allclose(one[name], two[name], rtol=0, atol=SAME * max(1.0, np.abs(two[name]).max()), err_msg=name)


def in_both(system: fm.System) -> fm.Result:
    first, second = (system.run(engine) for engine in ENGINES)
    same(first, second)
    return first


def by_hand(count: int, step: float) -> dict[str, np.ndarray]:
    """Speed and torque of speed_control() at the communication points: both take what the other had before the step."""
    solver = fm.Solver(fm.compile(read_model("four_bar")))
    control = load(EXAMPLES / "controllers" / "pid.py").PID(instance_name="pid")
    vars(control).update(kp=0.5, setpoint=10.0, measured=6.0)
    control.exit_initialization_mode()
    solver.set("A.tau", control.u)
    solver.assemble()
    rows = [(solver.get("A.qd"), control.u)]
    for k in range(count):
        speed, torque = rows[-1]
        solver.set("A.tau", torque)
        solver.step((k + 1) * step)
        control.measured = speed
        control.do_step(k * step, step)
        rows.append((solver.get("A.qd"), control.u))
    return dict(zip(("plant.A.qd", "pid.u"), np.array(rows).T, strict=True))


@pytest.mark.parametrize("engine", ENGINES)
def test_an_engine_runs_mechanism_and_controller_to_the_numbers_of_a_loop_by_hand(engine: str, fmus: Path) -> None:
    seen: list[float] = []
    result = speed_control(fmus).run(engine, progress=seen.append)
    for name, values in by_hand(50, 1e-3).items():
        assert_allclose(result[name], values, rtol=0, atol=SAME * 20)
    assert len(result.time) == 51
    assert result.time[-1] == 0.05
    assert seen == [k / 50 for k in range(1, 51)]


def with_fmi_3(folder: Path) -> fm.System:
    """speed_control() whose mechanism is an FMU of FMI 3.0."""
    system = speed_control(folder)
    path = fm.export_fmu(read_model("four_bar"), folder / "four_bar3.fmu", fmi=3)
    system.elements["plant"] = replace(system.elements["plant"], fmu=path)
    return system


def test_fmpy_runs_fmus_of_fmi_3_beside_others_to_the_same_bits(fmus: Path) -> None:
    two, three = (system.run("fmpy") for system in (speed_control(fmus), with_fmi_3(fmus)))
    assert two.names == three.names and two.units == three.units
    assert all(np.array_equal(two[name], three[name]) for name in two.names)


def test_libcosim_refuses_fmus_of_fmi_3_by_name(fmus: Path) -> None:
    with pytest.raises(SolverError, match=r"'plant' is of FMI 3\.0\. Take the engine fmpy"):
        with_fmi_3(fmus).run("libcosim")


def test_interfaces_of_both_versions_are_the_same(tmp_path: Path) -> None:
    model = read_model("braked_rotor")
    two, three = (read_interface(fm.export_fmu(model, tmp_path / f"{n}.fmu", fmi=n)) for n in (2, 3))
    assert {name: three.variables[name] for name in two.variables} == two.variables
    assert (two.scales, two.tolerance, two.version) == (three.scales, three.tolerance, 2)
    inputs = frozenset(name for name, variable in two.variables.items() if variable.causality == "input")
    assert None not in three.acts.values()  # which lists what FMI 2.0 leaves out as all inputs act
    assert {name: inputs if acts is None else acts for name, acts in two.acts.items()} == three.acts
    assert any(acts for acts in three.acts.values())
    assert two.variables["shaft.q"].unit == "rad"


def test_units_of_fmi_3_come_from_declared_types_too(tmp_path: Path) -> None:
    path = fm.export_fmu(read_model("braked_rotor"), tmp_path / "b.fmu", fmi=3)
    with zipfile.ZipFile(path) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    files["modelDescription.xml"] = files["modelDescription.xml"].replace(
        b'declaredType="SI.Angle" unit="rad"', b'declaredType="SI.Angle"'
    )
    with zipfile.ZipFile(tmp_path / "c.fmu", "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    assert read_interface(tmp_path / "c.fmu").variables["shaft.q"].unit == "rad"


def test_without_a_start_value_fmpy_sees_the_fmus_own_and_libcosim_the_initial_output(fmus: Path) -> None:
    """The start values of FMUs are 0 for both inputs: what the first step sees is where the engines differ."""
    system = speed_control(fmus)
    for name, starts in (("plant", {}), ("pid", {"kp": 0.5, "setpoint": 10.0})):
        system.elements[name].starts.clear()  # type: ignore[attr-defined]
        system.elements[name].starts.update(starts)  # type: ignore[attr-defined]
    libcosim, fmpy = (system.run(engine) for engine in ENGINES)
    assert libcosim["pid.u"][1] == pytest.approx(0.5 * (10.0 - 6.0))
    assert fmpy["pid.u"][1] == pytest.approx(0.5 * 10.0)


@pytest.mark.parametrize(("given", "force"), [(None, 3.0), (7.0, 7.0), (0.0, 0.0)])
def test_in_the_first_step_fmpy_sees_the_start_value_that_the_fmu_declares(
    given: float | None, force: float, fmus: Path, tmp_path: Path
) -> None:
    """A mass of 1 kg that is pushed by 3 N, unless the system says otherwise."""
    model = fm.Model("pushed", gravity=(0, 0, 0))
    body = fm.Body("b", mass=1.0)
    model.add(body, fm.Prismatic("S", model.ground.at(), body.at(), axis="x"), fm.Load("L", body.at(), force=(3, 5, 0)))
    system = fm.System("pushing", stop=0.3, step=0.1)
    system.add("plant", fm.export_fmu(model, tmp_path / "pushed.fmu"), outputs=["S.qd"])
    system.add("pid", fmu(fmus, "pid"), starts={"kp": 0.0}, units={"measured": "m/s", "u": "N"}, feedthrough=False)
    system.connect("plant.S.qd", "pid.measured")
    system.connect("pid.u", "plant.L.force[1]", **({} if given is None else {"start": given}))
    assert_allclose(system.run("fmpy")["plant.S.qd"], [0.0, *[0.1 * force] * 3], rtol=0, atol=1e-9)


def test_one_fmu_twice_with_other_parameters_under_names_that_begin_alike(fmus: Path) -> None:
    """FMPy's runner would give m1 the parameters of m10 too."""
    system = fm.System("twice", stop=0.5, step=0.05)
    cases = {
        "m1": {"A.q": 0.2},
        "m10": {"A.q": 0.7, "rod.mass": 2.0, "A.tau": 1.5},
        "m1_": {"A.tau": 0.3},
        "m": {"rod.mass": 9.0, "A.qd": -1.0},
    }
    for name, starts in cases.items():
        system.add(name, fmu(fmus, "pendulum"), starts=starts, outputs=["A.q", "A.qd"])
    result = in_both(system)
    for name, starts in cases.items():
        alone = fm.simulate(read_model("pendulum"), stop=0.5, interval=0.05, inputs=starts)
        assert_allclose(result[f"{name}.A.q"], alone["A.q"], rtol=0, atol=SAME)
    assert len({result[f"{name}.A.q"][-1] for name in cases}) == len(cases)


def test_two_fmus_of_ours_and_two_of_others_in_one_system(fmus: Path) -> None:
    """Four-bar and PID of pythonfmu; crane and controller in C."""
    system = speed_control(fmus, stop=0.1, step=5e-3)
    example = load(EXAMPLES / "crane_anti_sway.py")
    system.add("crane", fm.export_fmu(example.crane(), fmus / "trolley_crane.fmu"), outputs=["load.r[1]"])
    system.add("feedback", fmu(fmus, "anti_sway"), starts={"distance": 5.0, "time": 0.5} | example.gains())
    for end, source in zip(("x", "v", "angle", "rate"), ("rail.q", "rail.qd", "rope.q", "rope.qd"), strict=True):
        system.connect(f"crane.{source}", f"feedback.{end}", start=0.0)
    system.connect("feedback.force", "crane.rail.f", start=0.0)
    result = in_both(system)
    assert np.abs(result["feedback.force"]).max() > 1.0
    assert {"plant.A.qd", "pid.u", "crane.rail.q", "feedback.force"} <= set(result)


def slider(folder: Path) -> Path:
    """A mass on a rail, held by a spring; the spring's force is an output, a force on the mass an input."""
    model = fm.Model("slider", gravity=(0, 0, 0))
    mass = fm.Body.box("mass", size=(0.1, 0.1, 0.1), mass=1.0)
    rail = fm.Prismatic("rail", model.ground.at(), mass.at(), axis="x", q0=0.1)
    spring = fm.Spring("spring", model.ground.at(-1, 0, 0), mass.at(), stiffness=50.0, damping=1.0, free_length=1.0)
    model.add(mass, rail, spring)
    return fm.export_fmu(model, folder / "slider.fmu")


def test_a_system_of_twenty_mechanisms(fmus: Path) -> None:
    """Each spring's force pushes the next mass; each starts elsewhere."""
    plant = slider(fmus)
    system = fm.System("twenty", stop=0.2, step=0.01)
    for i in range(1, 21):
        system.add(f"m{i}", plant, starts={"rail.q": 0.1 + 0.01 * i}, outputs=["rail.q"])
    force = {i: 50.0 * (0.1 + 0.01 * i) for i in range(1, 21)}
    for i in range(1, 20):
        system.connect(f"m{i}.spring.f", f"m{i + 1}.rail.f", start=force[i])
    result = in_both(system)
    assert [result[f"m{i}.spring.f"][0] for i in range(1, 20)] == pytest.approx([force[i] for i in range(1, 20)])
    assert len({round(result[f"m{i}.rail.q"][-1], 9) for i in range(1, 21)}) == 20


def test_libcosim_converts_units_and_fmpy_refuses_with_both_ends(fmus: Path) -> None:
    system = fm.System("degrees", stop=0.01, step=1e-3)
    system.add("plant", fmu(fmus, "four_bar"), outputs=[])
    system.add(
        "pid", fmu(fmus, "pid"), starts={"kp": 1e-3}, units={"measured": "deg/s", "u": "kN.m"}, feedthrough=False
    )
    system.connect("plant.A.qd", "pid.measured")
    system.connect("pid.u", "plant.A.tau")
    result = system.run()
    assert result["pid.u"][0] == pytest.approx(-1e-3 * np.degrees(6.0), rel=1e-12)
    other = fm.System("radians", stop=0.01, step=1e-3)
    other.add("plant", fmu(fmus, "four_bar"), outputs=[])
    other.add("pid", fmu(fmus, "pid"), starts={"kp": 1e-3 * 180 / np.pi * 1e3}, feedthrough=False)
    other.connect("plant.A.qd", "pid.measured")
    other.connect("pid.u", "plant.A.tau")
    assert_allclose(result["plant.A.qd"], other.run()["plant.A.qd"], rtol=1e-9)
    with pytest.raises(SolverError, match=r"'plant.A.qd' \[rad/s\] feeds 'pid.measured' \[deg/s\]"):
        system.run("fmpy")


@pytest.mark.parametrize("engine", ENGINES)
def test_a_run_that_fails_keeps_its_results(engine: str, fmus: Path) -> None:
    """After the first step the torque is beyond what the mechanism can follow."""
    system = fm.System("fails", stop=1.0, step=0.01)
    system.add("plant", fmu(fmus, "four_bar"), outputs=["A.q"])
    starts = {"kp": 0.0, "ki": -1e300, "limit": 1e300}
    system.add("pid", fmu(fmus, "pid"), starts=starts, units={"measured": "rad/s"}, feedthrough=False)
    system.connect("plant.A.qd", "pid.measured", start=6.0)
    system.connect("pid.u", "plant.A.tau", start=0.0)
    with pytest.raises(SolverError, match="'fails' stopped at ") as caught:
        system.run(engine)
    assert caught.value.result is not None
    assert caught.value.time == caught.value.result.time[-1] == pytest.approx(0.01)
    speed_control(fmus).run(engine)  # the engine is not harmed


@pytest.mark.parametrize("engine", ENGINES)
def test_an_fmus_own_reason_is_told(engine: str, fmus: Path, tmp_path: Path) -> None:
    """Of a step that it discards, and of start values that it refuses: there libcosim would end the process."""
    pressed = fm.Model("pressed")
    body = fm.Body("body", mass=1, inertia=(1, 1, 1))
    pressed.add(body, fm.Bushing("M", pressed.ground.at(), body.at(), stiffness=[1] * 6, damping=[1] * 6))
    pressed.add(fm.Load("L", body.at()))
    system = fm.System("turning", stop=3.0, step=0.01)
    system.add("P", fm.export_fmu(pressed, tmp_path / "pressed.fmu"), starts={"L.torque[2]": 5.0})
    with pytest.raises(SolverError, match=r"'turning' stopped at 0\.95 s.*P.*at t = 0\.95.*'M' comes to the limit"):
        system.run(engine)
    heavy = fm.System("heavy", stop=0.1, step=0.01)
    heavy.add("P", fmu(fmus, "four_bar"), starts={"coupler.inertia[1]": 50.0})
    with pytest.raises(SolverError, match=r"'heavy' stopped at 0 s.*'P'.*the inertia of body 'coupler' is refused"):
        heavy.run(engine)


def test_a_connected_input_with_which_an_fmu_cannot_start_is_told(tmp_path: Path) -> None:
    """The torque that holds a heavy arm lets a light one find no equilibrium: libcosim would end the process."""
    swing, held = fm.Model("swing"), fm.Model("held")
    light, heavy = (fm.Body.rod("rod", length=1.0, mass=mass, radius=0.05) for mass in (1.0, 50.0))
    swing.add(light, fm.Revolute("A", swing.ground.at(), light.tip, axis="y", q0=0.1))
    mode = fm.Turn("y", role="excited", path=fm.Path.polynomial(0.0))
    held.add(heavy, fm.Joint("A", held.ground.at(), heavy.base, modes=[mode]))
    system = fm.System("balanced", stop=0.1, step=0.01)
    system.add("plant", fm.export_fmu(swing, tmp_path / "swing.fmu", equilibrium=True))
    system.add("source", fm.export_fmu(held, tmp_path / "held.fmu"))
    system.connect("source.A.drive", "plant.A.tau", start=0.0)
    with pytest.raises(SolverError, match=r"'balanced' stopped at 0 s: in 'plant'.*no equilibrium"):
        system.run("libcosim")


def held_by(torque: float, folder: Path) -> Path:
    """A rod that finds no equilibrium under a large torque, which an FMU's start value is."""
    model, rod = fm.Model("swing"), fm.Body.rod("rod", length=1.0, mass=1.0, radius=0.05)
    model.add(rod, fm.Revolute("A", model.ground.at(), rod.tip, axis="y", q0=0.1))
    return fm.export_fmu(model, folder / f"swing{torque:g}.fmu", starts={"A.tau": torque})


def test_libcosim_reads_outputs_before_it_sets_inputs_and_before_it_passes_values_on(tmp_path: Path) -> None:
    """So an FMU must start with its own start values, and with those that connections replace: else it would end the
    process.
    """
    early = fm.System("early", stop=0.1, step=0.01)
    early.add("plant", held_by(1e3, tmp_path), starts={"A.tau": 0.0, "solver.equilibrium": 1})
    with pytest.raises(SolverError, match=r"in 'plant', before libcosim sets its inputs: .*no equilibrium"):
        early.run("libcosim")
    late = fm.System("late", stop=0.1, step=0.01)
    late.add("source", held_by(0.0, tmp_path))
    late.add("plant", held_by(0.0, tmp_path), starts={"solver.equilibrium": 1})
    late.connect("source.A.wrench.t[1]", "plant.A.tau", start=1e3)
    with pytest.raises(SolverError, match=r"'late' stopped at 0 s: in 'plant': .*no equilibrium"):
        late.run("libcosim")
    late.connections.clear()
    late.connect("source.A.wrench.t[1]", "plant.A.tau", start=0.0)
    assert late.run("libcosim").time[-1] == pytest.approx(0.1)


@pytest.mark.parametrize("engine", ENGINES)
def test_an_interrupted_run_keeps_its_results(engine: str, fmus: Path) -> None:
    def stop(part: float) -> None:
        if part >= 0.5:
            raise KeyboardInterrupt

    with pytest.raises(Interrupted) as caught:
        speed_control(fmus).run(engine, progress=stop)
    assert caught.value.time == pytest.approx(0.025)


def test_fmpys_own_runner_stays_as_it_is(fmus: Path) -> None:
    from fmpy.ssp import simulation

    before = dict(vars(simulation))
    speed_control(fmus).run("fmpy")
    assert dict(vars(simulation)) == before


def test_an_engine_that_is_missing_or_unknown_is_told(fmus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    system = speed_control(fmus)
    with pytest.raises(SolverError, match=r"no engine 'libcosi'\. The nearest name is 'libcosim'"):
        system.run("libcosi")
    monkeypatch.setenv("PATH", "")
    with pytest.raises(SolverError, match="needs the program OMSimulator"):
        system.run("omsimulator")
    monkeypatch.setitem(sys.modules, "libcosimpy", None)
    with pytest.raises(SolverError, match="pip install 'fmumbs\\[cosim\\]'"):
        system.run("libcosim")


# OMSimulator, which is rarely installed: a stand-in that writes what it writes -------------------------------------

STAND_IN = """#!{python}
import sys, zipfile
options = dict(a[2:].split("=", 1) for a in sys.argv[1:] if a.startswith("--"))
assert zipfile.is_zipfile(sys.argv[-1])
if {fails}:
    print("error:   [doStep] fmi2DoStep failed")
    sys.exit({fails})
with open(options["resultFile"], "w") as file:
    file.write('"time","pid.u","extra","plant.A.q","plant.D.q","plant.solver.steps","plant.A.qd"\\n')
    count, stop = int(options["intervals"]), float(options["stopTime"])
    for k in range(count + 1):
        for again in (0, 1) if k else (1,):
            row = stop * k / count + 1e-12 * k, k + 0.5 * again, 7, k, -k, 3, 10 * k
            file.write(", ".join(map(str, row)) + "\\n")
    file.write(f"{{stop}}, 99, 99, 99, 99, 99, 99\\n")
"""


@pytest.mark.parametrize("fails", [0, 1])
def test_the_rows_of_omsimulator_after_each_exchange_are_taken(
    fails: int, fmus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "OMSimulator"
    program.write_text(STAND_IN.format(python=sys.executable, fails=fails))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    system = speed_control(fmus)
    if fails:
        with pytest.raises(SolverError, match=r"OMSimulator cannot run 'speed_control': \[doStep\] fmi2DoStep failed"):
            system.run("omsimulator")
        return
    result = system.run("omsimulator")
    steps = np.arange(51)
    for name, values in {
        "plant.A.q": steps,
        "plant.D.q": -steps,
        "plant.A.qd": 10 * steps,
        "pid.u": steps + 0.5,
    }.items():
        assert_allclose(result[name], values, err_msg=name)


@pytest.mark.skipif(shutil.which("OMSimulator") is None, reason="OMSimulator is not installed")
def test_omsimulator_runs_to_the_numbers_of_libcosim(fmus: Path) -> None:
    """To the twelve digits that it writes."""
    system = speed_control(fmus)
    one, two = system.run("omsimulator"), system.run("libcosim")
    for name in one:
        assert_allclose(one[name], two[name], rtol=1e-9, atol=1e-9, err_msg=name)


# Outputs that are not real -----------------------------------------------------------------------------------

SWITCH = """
from pythonfmu import Boolean, Fmi2Causality, Fmi2Slave, Integer, String


class Switch(Fmi2Slave):
    def __init__(self, **options):
        super().__init__(**options)
        self.count, self.odd, self.word = 0, False, "even"
        for kind, name in ((Integer, "count"), (Boolean, "odd"), (String, "word")):
            self.register_variable(kind(name, causality=Fmi2Causality.output))

    def do_step(self, current_time, step_size):
        self.count += 1
        self.odd = self.count % 2 == 1
        self.word = "odd" if self.odd else "even"
        return True
"""


@pytest.mark.parametrize("engine", ["fmpy", "libcosim"])
def test_boolean_outputs_are_recorded(engine: str, tmp_path: Path) -> None:
    from pythonfmu.builder import FmuBuilder

    (tmp_path / "switch.py").write_text(SWITCH)
    made = FmuBuilder.build_FMU(tmp_path / "switch.py", dest=tmp_path / "switch.fmu")
    for outputs in (["odd"], None):
        system = fm.System("switching", stop=0.004, step=1e-3)
        system.add("s", made, outputs=outputs, feedthrough=False)
        result = system.run(engine)
        assert result["s.odd"][1:].tolist() == [1.0, 0.0, 1.0, 0.0]
        assert result["s.odd"][0] == 0.0 if engine == "fmpy" else np.isnan(result["s.odd"][0])
    assert "s.word" not in result
    system = fm.System("switching", stop=0.004, step=1e-3)
    system.add("s", made, outputs=["word"], feedthrough=False)
    with pytest.raises(fm.ModelError, match=r"'s\.word' is of type String, and results have numbers"):
        system.check()
