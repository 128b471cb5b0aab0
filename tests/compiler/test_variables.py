"""The table of variables: names, starts, units and dependencies."""

import re
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fmumbs as fm
from fmumbs.compiler import ModelImage, Variable, Variables, compile
from fmumbs.compiler.layout import ffi, lib, open_instance
from fmumbs.run import Solver
from support.strategies import EVERY, Case, trees


def one(image: ModelImage, name: str) -> Variable:
    found = image.variables.find(name)
    assert found is not None, name
    return found


def names_by_core(image: ModelImage) -> list[str]:
    """Names of the variables in the core's messages."""
    instance, buffer = open_instance(image.bytes), ffi.new("char[]", 200)
    names = []
    for index in range(lib.fm_variable_count(instance)):
        lib.fm_variable_name(instance, index, buffer, 200)
        names.append(ffi.string(buffer).decode())
    return names


def units_by_core(image: ModelImage) -> list[str]:
    instance, info = open_instance(image.bytes), ffi.new("fm_variable_info *")
    units = []
    for index in range(lib.fm_variable_count(instance)):
        lib.fm_variable(instance, index, info)
        units.append(ffi.string(info.unit).decode())
    return units


# Names ---------------------------------------------------------------------------------------------------------


@settings(max_examples=25)
@given(trees(kinds=EVERY))
def test_the_core_has_the_same_names_and_units(case: Case) -> None:
    image = compile(case.model)
    assert image.variables.names() == names_by_core(image)
    assert image.variables.units() == [v.unit for v in image.variables] == units_by_core(image)


def test_the_fourth_number_of_a_balls_quaternion_is_no_entry_of_its_stiffness() -> None:
    """Whose entries beside the diagonal are numbered from the fourth on."""
    model = fm.Model("ball")
    body = fm.Body("body", mass=1.0, inertia=(0.1, 0.1, 0.1))
    K = np.array([[3.0, 0.5, 0.1], [0.5, 4.0, 0.2], [0.1, 0.2, 5.0]])
    model.add(body, fm.Spherical("S", model.ground.at(), body.at(), stiffness=K))
    image = compile(model, everything=True)
    assert image.variables.units() == units_by_core(image)
    assert (one(image, "S.q[4]").unit, one(image, "S.stiffness[4]").unit) == ("", "N.m/rad")
    solver = Solver(image)
    solver.set("S.q", (0.6, 0.0, 0.0, 0.8))
    assert tuple(solver.get("S.q")) == (0.6, 0.0, 0.0, 0.8)
    assert solver.get("S.stiffness[4]") == 0.5


def test_a_free_joint_in_a_loop_tells_of_its_turns_what_it_tells_of_its_slides() -> None:
    """Its start is given; that of the hinges before it in the model is not."""
    model = fm.Model("loop")
    bodies = [fm.Body(f"b{i}", mass=1.0, inertia=(0.1, 0.1, 0.1)) for i in range(5)]
    model.add(*bodies)
    for i, body in enumerate(bodies[:4]):
        model.add(fm.Revolute(f"H{i}", model.ground.at(i), body.at()))
    model.add(fm.Free("J", model.ground.at(), bodies[4].at(), q0=(0, 0, 0, 1, 0, 0, 0), u0=(0.0,) * 6))
    model.add(fm.PointOnPlane("P", model.ground.at(), bodies[4].at()))
    image = compile(model, everything=True)
    told = {name: one(image, name).description.partition("; start: ")[2] for name in image.variables.names()}
    for slides, turns in (("J.r", "J.q"), ("J.v", "J.w")):
        found = {text for name, text in told.items() if name.startswith((f"{slides}[", f"{turns}["))}
        assert found == {"as given, unless other values that are set determine it"}


def test_a_free_joint_without_springs_lists_none() -> None:
    """Else every body in flight would have twelve parameters that are zero."""
    counts = {}
    for stiffness in (0.0, 300.0):
        model = fm.Model("flight")
        body = fm.Body("body", mass=1.0, inertia=(0.1, 0.1, 0.1))
        model.add(body, fm.Free("J", model.ground.at(), body.at(), stiffness=(stiffness, 0, 0, 0, 0, 0)))
        names = compile(model).variables.names()
        counts[stiffness] = sum(name.startswith(("J.stiffness", "J.damping")) for name in names)
    assert counts == {0.0: 0, 300.0: 12}


@pytest.mark.parametrize("kind", [fm.Slide, fm.Turn])
def test_an_excited_mode_leaves_the_unit_of_what_drives_the_free_one(kind: type) -> None:
    model = fm.Model("beside")
    body = fm.Body("body", mass=1.0, inertia=(0.1, 0.1, 0.1))
    modes = [fm.Turn("z", role="excited", input="kappa_dot"), kind("x")]
    model.add(body, fm.Joint("J", model.ground.at(), body.at(), modes=modes))
    image = compile(model)
    assert image.variables.names() == names_by_core(image)
    assert one(image, "J.f" if kind is fm.Slide else "J.tau").unit == ("N" if kind is fm.Slide else "N.m")


def test_the_core_knows_declared_names(narrow: fm.Model) -> None:
    image = compile(narrow)
    assert image.variables.names() == names_by_core(image)
    assert len(set(image.variables.names())) == len(image.variables)


def test_every_variable_is_found_by_its_name(image: ModelImage) -> None:
    for variable in image.variables:
        assert image.variables.references(variable.name) == [variable.index]
        assert image.variables.find(variable.name) == variable
        assert image.variables.name(variable.index) == variable.name


def test_a_vector_is_found_in_the_order_of_its_components(image: ModelImage) -> None:
    for stem in ("gravity", "F.q", "F.r", "S.w", "arm.inertia", "arm.tip.a", "L.torque", "A.reaction.f"):
        found = [image.variables.name(i) for i in image.variables.references(stem)]
        assert found == [f"{stem}[{k + 1}]" for k in range(len(found))]
        assert len(found) > 2
        assert image.variables.find(stem) is None


@pytest.mark.parametrize(
    "name",
    ["", ".", "A", "A.", ".q", "q", "A.q.", "A.q[0]", "A.q[1]", "A.q[-1]", "F.q[5]", "F.q[01]", "F.q[1", "a.q", "W.q",
     "A.q\n", "arm.q", "tip.r", "k.r", "solver", "solver.energy[1]", "gravity[4]", "L.force[1][1]", "A.rotor_inertia"],
)  # fmt: skip
def test_unknown_names_are_not_found(name: str, image: ModelImage) -> None:
    assert image.variables.references(name) == []
    assert image.variables.find(name) is None


def test_points_without_a_name_are_no_variables(image: ModelImage) -> None:
    names = image.variables.names()
    assert "arm.tip.r[1]" in names
    assert "ball.mark.v[3]" in names
    assert not [name for name in names if name.startswith(".")]


def test_declared_variables_are_found_by_both_names(narrow: fm.Model) -> None:
    variables = compile(narrow).variables
    for name, target in (("torque", "A.tau"), ("wind", "L.force"), ("wind[2]", "L.force[2]"), ("pose", "F.q")):
        assert variables.references(name) == variables.references(target) != []
    assert variables.references("P.q") == []


def test_a_solver_of_the_model_has_all_variables_of_the_narrow_image(narrow: fm.Model) -> None:
    """Declared names, those of their vectors and components, and the solver's own; and every other name beside."""
    narrow.output("spin[2]", of="S.w[1]")
    narrow.output("spin[1]", of="S.w[3]")
    narrow.output("lone[1]", of="ball.w[2]")
    narrow.output("only[1]", of="P.q")
    image = compile(narrow)
    known, whole = Solver(image), Solver(narrow)
    names = {name for full in image.variables.names() for name in (full, full.split("[")[0])}
    assert {"torque", "wind", "wind[2]", "pose", "weight", "spin", "lone", "only", "solver.energy"} <= names
    for solver in (known, whole):
        solver.set("torque", 0.3)
        solver.set("wind", (1.0, 2.0, 3.0))
        solver.set("wind[3]", 4.0)
        solver.set("weight", 5.0)
        solver.set("angle", 0.1)
        solver.assemble()
        solver.step(0.05)
    for name in names:
        here, there = known.get(name), whole.get(name)
        assert type(here) is type(there), name
        assert np.array_equal(here, there), name
    assert whole.get("spin").tolist() == [whole.get("S.w[3]"), whole.get("S.w[1]")]
    assert whole.get("A.tau") == 0.3
    with pytest.raises(fm.SolverError, match=r"'zoo' has no variable 'torqe'\. The nearest name is 'torque'\."):
        whole.get("torqe")


def test_a_solver_of_the_model_refuses_a_declaration_of_nothing(zoo: fm.Model) -> None:
    zoo.input("torque", to="A.tua")
    with pytest.raises(fm.ModelError, match=r"input 'torque' names 'A\.tua', which does not exist\. .*'A\.tau'"):
        Solver(zoo)


def test_a_declared_name_has_priority_over_another_variables_own(zoo: fm.Model) -> None:
    zoo.output("A.q", of="P.q")
    zoo.output("P.q", of="A.q")
    for solver in (Solver(compile(zoo)), Solver(zoo)):
        assert (solver.get("A.q"), solver.get("P.q")) == (0.0, 0.2)


# A sequence ----------------------------------------------------------------------------------------------------


def test_the_table_is_a_sequence(image: ModelImage) -> None:
    variables = image.variables
    every = list(variables)
    assert [v.index for v in every] == list(range(len(variables)))
    assert variables[:] == every
    assert variables[3:9:2] == every[3:9:2]
    assert variables[-1] == every[-1]
    assert every[5] in variables
    for wrong in (len(variables), -len(variables) - 1):
        with pytest.raises(IndexError, match=f"there are {len(variables)} variables"):
            variables[wrong]


def test_a_long_table_is_made_in_pieces(image: ModelImage, monkeypatch: pytest.MonkeyPatch) -> None:
    every = list(image.variables)
    monkeypatch.setattr("fmumbs.compiler.variables._AT_ONCE", 7)
    assert list(image.variables) == every


@settings(max_examples=20)
@given(trees(kinds=EVERY), st.randoms())
def test_bulk_queries_equal_single_ones(case: Case, random: Random) -> None:
    """Names, units, causalities and states in bulk, and variables by index in any order."""
    variables = compile(case.model).variables
    every = variables[:]
    assert variables.names() == [v.name for v in every]
    assert variables.units() == [v.unit for v in every]
    assert variables.causalities() == [v.causality for v in every]
    assert variables.states().tolist() == [v.causality == "output" and v.initial != "calculated" for v in every]
    some = random.choices(range(-len(every), len(every)), k=80)
    assert [variables[i] for i in some] == [every[i] for i in some]
    some = [i % len(every) for i in some]
    assert variables.names(some) == [every[i].name for i in some]
    assert variables.units(np.array(some, np.uint32)) == [every[i].unit for i in some]
    assert variables.causalities(some) == [every[i].causality for i in some]


def test_a_run_describes_no_variable(zoo: fm.Model, monkeypatch: pytest.MonkeyPatch) -> None:
    """Describing a variable takes longer than many steps: a run only reads names and units, in bulk."""
    monkeypatch.setattr(Variables, "_make", None)
    result = fm.simulate(zoo, stop=0.2, inputs={"A.tau": lambda t: t, "arm.mass": 2.0})
    assert result.units["A.q"] == "rad"


# Causalities and starts --------------------------------------------------------------------------------------


def test_inputs_outputs_and_parameters_have_their_causality(image: ModelImage) -> None:
    tau, q, qdd, mass = (one(image, name) for name in ("A.tau", "A.q", "A.qdd", "arm.mass"))
    assert (tau.causality, tau.variability, tau.initial, tau.start) == ("input", "continuous", None, 0.0)
    assert (q.causality, q.variability, q.initial, q.start) == ("output", "continuous", "exact", 0.2)
    assert (qdd.causality, qdd.variability, qdd.initial, qdd.start) == ("output", "continuous", "calculated", None)
    assert (mass.causality, mass.variability, mass.initial, mass.start) == ("parameter", "tunable", "exact", 1.0)
    steps, scheme = one(image, "solver.steps"), one(image, "solver.scheme")
    assert (steps.type, steps.variability, steps.initial) == ("integer", "discrete", "calculated")
    assert (scheme.type, scheme.variability, scheme.start) == ("integer", "fixed", 3.0)


def test_starts_are_the_models(image: ModelImage) -> None:
    starts = {v.name: v.start for v in image.variables}
    assert [starts[f"L.force[{i}]"] for i in (1, 2, 3)] == [1.0, 2.0, 3.0]
    assert [starts[f"ball.inertia[{i}]"] for i in range(1, 7)] == [0.2, 0.2, 0.3, 0.0, 0.0, 0.01]
    assert (starts["A.stiffness"], starts["P.damping"], starts["P.rotor_inertia"]) == (3.0, 0.5, 0.1)
    assert [starts[f"F.r[{i}]"] for i in (1, 2, 3)] == [0.1, 0.2, 0.3]
    assert starts["gravity[3]"] == -9.81


def test_units_follow_from_the_joint(image: ModelImage) -> None:
    units = {v.name: v.unit for v in image.variables}
    assert (units["A.q"], units["P.q"], units["A.tau"], units["P.f"]) == ("rad", "m", "N.m", "N")
    assert (units["A.damping"], units["P.damping"]) == ("N.m.s/rad", "N.s/m")
    assert (units["F.f[1]"], units["F.tau[1]"], units["S.q[1]"]) == ("N", "N.m", "")
    assert (units["A.rest"], units["P.rotor_inertia"]) == ("rad", "kg")


def test_a_stiffness_matrix_changes_no_unit_of_its_ball() -> None:
    """Its entries are more than the ball has velocities, as are the components of its quaternion."""
    units = []
    for stiffness in (3.0, np.diag((1.0, 2.0, 3.0)) + 0.1):
        model = fm.Model("ball")
        body = fm.Body("b", mass=1.0, inertia=(1, 1, 1))
        model.add(body, fm.Spherical("j", model.ground.at(), body.at(), stiffness=stiffness))
        image = compile(model, everything=True)
        laws = ("j.stiffness", "j.damping")
        units.append({v.name: (v.unit, v.description) for v in image.variables if not v.name.startswith(laws)})
    assert units[0] == units[1]


def test_units_of_a_skate_follow_from_its_slides_and_its_turn() -> None:
    model, body = fm.Model("m"), fm.Body("b", mass=1.0, inertia=(1, 1, 1))
    model.add(body, fm.Skate("S", model.ground.at(), body.at(), stiffness=(1, 2, 3), damping=(1, 2, 3)))
    units = {v.name: v.unit for v in compile(model).variables}
    along, about = {"q": "m", "rest": "m", "stiffness": "N/m", "damping": "N.s/m"}, {
        "q": "rad", "rest": "rad", "stiffness": "N.m/rad", "damping": "N.m.s/rad",
    }  # fmt: skip
    for name in along:
        assert [units[f"S.{name}[{i}]"] for i in (1, 2, 3)] == [along[name], along[name], about[name]]


def test_only_variables_of_vectors_have_a_component(image: ModelImage) -> None:
    assert (one(image, "A.q").component, one(image, "A.q").kind) == (None, "q")
    assert (one(image, "F.q[4]").component, one(image, "F.q[4]").kind) == (3, "q")


# Dependencies -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "of"),
    [("A.qd", "A.q"), ("A.qdd", "A.qd"), ("S.alpha[2]", "S.w[2]"), ("F.v[3]", "F.r[3]"), ("F.a[1]", "F.v[1]"),
     ("arm.v[1]", "arm.r[1]"), ("arm.a[2]", "arm.v[2]"), ("arm.alpha[3]", "arm.w[3]"),
     ("arm.tip.v[1]", "arm.tip.r[1]")],
)  # fmt: skip
def test_rates_name_what_they_are_the_rates_of(name: str, of: str, image: ModelImage) -> None:
    assert one(image, name).derivative_of == one(image, of).index


@pytest.mark.parametrize("name", ["A.q", "S.w[1]", "F.q[1]", "arm.w[1]", "A.tau", "k.f", "solver.energy"])
def test_other_variables_are_rates_of_nothing(name: str, image: ModelImage) -> None:
    assert one(image, name).derivative_of is None


def test_a_rate_of_a_hidden_variable_names_nothing(zoo: fm.Model, narrow: fm.Model) -> None:
    image = compile(narrow)
    assert one(image, "rate").derivative_of == one(image, "angle").index
    zoo.output("rate", of="A.qd")
    assert one(compile(zoo), "rate").derivative_of is None


def inputs_of(variables: Variables, name: str) -> set[str]:
    found = variables.find(name)
    assert found is not None
    assert found.dependencies is not None
    return {re.sub(r"\[\d\]", "", variables.name(i)) for i in found.dependencies}


def test_accelerations_follow_the_inputs_of_their_own_tree(image: ModelImage) -> None:
    arm, bird = {"A.tau", "P.f", "S.tau", "L.force", "L.torque"}, {"F.f", "F.tau", "push.force", "push.torque"}
    for name in ("A.qdd", "S.alpha[1]", "ball.a[1]", "arm.tip.a[3]", "A.reaction.f[1]", "P.wrench.t[2]"):
        assert inputs_of(image.variables, name) == arm
    for name in ("F.a[1]", "egg.alpha[1]", "W.reaction.t[3]"):
        assert inputs_of(image.variables, name) == bird


def test_positions_velocities_and_springs_follow_no_input_at_once(image: ModelImage) -> None:
    for name in ("A.q", "A.qd", "arm.r[1]", "arm.tip.v[1]", "k.length", "k.f", "solver.energy", "solver.steps"):
        assert one(image, name).dependencies == ()


def test_in_one_tree_accelerations_follow_all_inputs() -> None:
    model = fm.Model("one")
    rod = fm.Body.rod("rod", length=1.0, mass=1.0, radius=0.1)
    model.add(rod, fm.Revolute("A", model.ground.at(), rod.base, axis="y"))
    image = compile(model)
    assert one(image, "A.qdd").dependencies is None
    assert one(image, "A.tau").dependencies is None


def test_without_inputs_there_are_no_dependencies(zoo: fm.Model) -> None:
    zoo.output("acceleration", of="A.qdd")
    assert one(compile(zoo), "acceleration").dependencies == ()


def test_a_loop_makes_two_trees_one_mechanism() -> None:
    model = fm.Model("four_bar", gravity=(0.0, -9.81, 0.0))
    a, b, c = (fm.Body.rod(name, length=1.0, mass=1.0, radius=0.1) for name in "abc")
    q0 = 0.5 * 3.141592653589793
    model.add(a, b, c)
    model.add(fm.Revolute("A", model.ground.at(), a.base, axis="z", q0=q0))
    model.add(fm.Revolute("B", a.tip, b.base, axis="z", q0=-q0))
    model.add(fm.Revolute("D", model.ground.at(1.0), c.base, axis="z", q0=q0))
    model.add(fm.Revolute("C", b.tip, c.tip, axis="z"))
    assert one(compile(model), "A.qdd").dependencies is None


# Wrong names ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "nearest"),
    [("A.qqd", "A.qd"), ("arm.tpi.r", "arm.tip.r"), ("amr.mass", "arm.mass"), ("a.tau", "A.tau"),
     ("L.fource", "L.force"), ("gravty[3]", "gravity[3]"), ("solver.stps", "solver.steps"), ("F.q[5]", "F.q[4]"),
     ("bal.mark.v", "ball.mark.v")],
)  # fmt: skip
def test_the_message_has_the_nearest_name(name: str, nearest: str, image: ModelImage) -> None:
    assert image.variables.unknown(name) == f"has no variable '{name}'. The nearest name is '{nearest}'."


def test_without_a_near_name_the_message_has_a_few(image: ModelImage) -> None:
    assert re.fullmatch(r"has no variable 'xyzzy'\. There are '.*' and others\.", image.variables.unknown("xyzzy"))


def test_the_message_about_a_narrowed_model_has_its_declared_variables(narrow: fm.Model) -> None:
    variables = compile(narrow).variables
    message = "has no variable 'anlge', and exposes only declared variables. The nearest name is 'angle'."
    assert variables.unknown("anlge") == message
    assert variables.unknown("P.q") == "does not expose 'P.q'. Declare it, or use compile(model, everything=True)."


@pytest.mark.parametrize("seed", range(5))
def test_units_of_couplings_follow_from_what_they_couple(seed: int) -> None:
    """A force on what slides, a torque on what turns, in any order; of excited coordinates too."""
    rng = np.random.default_rng(seed)
    model = fm.Model("coupled")
    terms, units = [], []
    for k in range(4):
        body = fm.Body.box(f"b{k}", size=(1, 1, 1), mass=1.0)
        slides, excited = rng.random(2) < 0.5
        role = {"role": "excited", "input": "kappa_dot"} if excited and k else {}
        mode = (fm.Slide if slides else fm.Turn)("z", **role)
        model.add(body, joint := fm.Joint(f"J{k}", model.ground.at(k, 0, 0), body.at(), modes=[mode]))
        terms.append((joint, 1, float(rng.uniform(0.5, 2.0))))
        units.append("N" if slides else "N.m")
    model.add(fm.Coupling("g", terms))
    variables = compile(model).variables
    assert [variables.find(f"g.tau[{k}]").unit for k in range(1, 5)] == units
