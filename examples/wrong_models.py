"""Wrong models: what the messages say.

Everyone forgets a joint, closes a loop that cannot close, or gives a mass below zero. Each error says what is wrong,
where, the nearest fact and one fix. Other models are valid and still not what was meant: a `StartWarning` lists the
start values that a loop has changed, and `fm.uniqueness`, or `fmumbs check`, tells which reactions a rigid model leaves
open, which cannot be seen from the motion. The picture is the four-bar without its mistakes. SI units, angles in rad.
"""

import warnings

import fmumbs as fm


def four_bar(rocker: float = 0.22, mass: float = 0.5, axis: str = "y") -> fm.Model:
    """A four-bar, with start values of B and D that do not quite fit that of A."""
    model = fm.Model("four_bar")
    a = fm.Body.rod("crank", length=0.1, mass=0.3)
    b = fm.Body.rod("coupler", length=0.26, mass=mass)
    c = fm.Body.rod("rocker", length=rocker, mass=0.6)
    A = fm.Revolute("A", model.ground.at(), a.base, axis=axis, q0=-1.2)
    B = fm.Revolute("B", a.tip, b.base, axis="y", q0=0.8)
    D = fm.Revolute("D", model.ground.at(0.25, 0, 0), c.base, axis="y", q0=-1.9)
    model.add(a, b, c, A, B, D, fm.Revolute("C", b.tip, c.tip, axis="y"))
    return model


def with_lever(added: bool) -> fm.Model:
    """A lever that is added without a joint, or has a joint without being added."""
    model, lever = four_bar(), fm.Body.rod("lever", length=0.1, mass=0.1)
    model.add(lever if added else fm.Revolute("E", model["rocker"].tip, lever.base, axis="y"))
    return model


WRONG = {
    "a negative mass": lambda: four_bar(mass=-0.5),
    "an axis that is none": lambda: four_bar(axis="w"),
    "a body where a point belongs": lambda: fm.Spring("spring", four_bar().ground.at(), fm.Body("b", mass=1.0)),
    "a body that was not added": lambda: fm.compile(with_lever(added=False)),
    "a body without a joint": lambda: fm.compile(with_lever(added=True)),
    "a rocker that is too long": lambda: fm.simulate(four_bar(rocker=0.7)),
    "a variable that is misspelt": lambda: fm.simulate(four_bar(), outputs=["A.qdot"]),
    "an unknown scheme": lambda: fm.simulate(four_bar(), scheme="dopri"),
}
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    for what, wrong in WRONG.items():
        try:
            wrong()
        except fm.FmumbsError as error:
            print(f"{what}: {type(error).__name__}\n  {error}")
        else:
            raise AssertionError(what)
    told.clear()
    fm.simulate(four_bar(), stop=0.1)
print(f"start values that do not fit together: {told[0].category.__name__}\n  {told[0].message}")
print(f"reactions that are not unique: fm.uniqueness\n{fm.uniqueness(four_bar())}")
four_bar().picture("wrong_models.png")
