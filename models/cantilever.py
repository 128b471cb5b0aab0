"""Cantilever: a steel strip clamped at one end, as a chain of rigid finite elements. SI units, angles in rad.

It bends in both planes and twists under its weight and a load at its tip. `fm.equilibrium(build())` gives its static
deflection, to compare with m g L^3 / (8 E I) + F L^3 / (3 E I), and the frequencies of small vibrations about it.
"""

import fmumbs as fm


def build(length=1.0, width=0.004, height=0.02, elements=6, damping=1e-4, plane=None) -> fm.Model:
    """Sizes [m], width along y, height along z; number of elements; retardation time [s]; plane as of FlexibleLink."""
    model = fm.Model("cantilever", description="A clamped steel strip that bends and twists")
    strip = fm.FlexibleLink(
        "strip",
        length=length,
        section=fm.Section.rectangle(width, height),
        material=fm.Material.steel(damping),
        elements=elements,
        plane=plane,
    )
    model.add(strip, fm.Weld("wall", model.ground.at(), strip.base), fm.Load("tip", strip.tip, force=(0, 1, 0)))
    model.experiment(stop=1.0, interval=0.002)
    return model


if __name__ == "__main__":
    print(fm.equilibrium(build()))
    fm.simulate(build(), stop=1.0).plot("strip_tip.q[2]", "strip_tip.q[3]")
    fm.export_fmu(build(), "fmus/cantilever.fmu")
