"""Mechanisms in which radau finds its stages one after the other, however few coordinates move."""

import fmumbs as fm


def with_skate(model: fm.Model) -> fm.Model:
    """The model with a skate apart from it, whose velocity constraint no dense system of stages has."""
    body = fm.Body("apart", mass=1.0, inertia=(0.1, 0.1, 0.1))
    model.add(body, fm.Skate("apart_skate", model.ground.at(), body.at()))
    return model
