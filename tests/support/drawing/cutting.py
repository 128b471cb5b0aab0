"""Which joints of a mechanism close its loops: any of those that may."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

import fmumbs as fm
from fmumbs.mechanism.joints import Closing, JointBase
from support.drawing.rebuilding import own_elements, rebuilt, uses


def belongs_to_tree(one: JointBase, used: dict[str, list[Any]]) -> bool:
    """Whether it cannot close a loop."""
    rotors = any(one.law("rotor_inertia")) if one.free_modes else False
    return bool(one.excited_modes or one.velocity_rows or one.held or rotors or one.friction or one.name in used)


def joined(model: fm.Model) -> dict[str, str]:
    """Bodies that links join already, each with the first of its group."""
    group = {body.name: body.name for body in (*model.bodies, model.ground)}
    for one in own_elements(model):
        for part in getattr(one, "parts", ()):
            if isinstance(part, JointBase) and not part.cut and not isinstance(part, Closing):
                unite(group, part)
    return group


def unite(group: dict[str, str], one: JointBase) -> bool:
    """Joins the groups of a joint's bodies; False if they are one already."""
    a, b = group[one.F.body.name], group[one.M.body.name]
    group.update({name: a for name, of in group.items() if of == b})
    return a != b


def tree_is_possible(model: fm.Model) -> bool:
    """Whether the joints that cannot close loops leave a tree."""
    group, used = joined(model), uses(model)
    own = [one for one in own_elements(model) if isinstance(one, JointBase)]
    return all(unite(group, one) for one in own if belongs_to_tree(one, used))


def recut(rng: np.random.Generator, model: fm.Model) -> fm.Model:
    """The same with any other tree: all joints that are not in it have cut=True."""
    used = uses(model)
    own = [one for one in own_elements(model) if isinstance(one, JointBase) and not isinstance(one, Closing)]
    own.sort(key=lambda one: one.name)  # the joints of the first tree are called j0, j1, ...
    own.sort(key=lambda one: one.name[0] == "c")
    for order in (*(rng.permutation(len(own)).tolist() for _ in range(20)), range(len(own))):
        group = joined(model)
        able = sorted((own[i] for i in order), key=lambda one: not belongs_to_tree(one, used))
        tree = {one.name for one in able if unite(group, one)}
        if all(carries(model, tree, one) for one in own if one.velocity_rows):
            break
    names = {one.name for one in own}
    return rebuilt(model, lambda one: replace(one, cut=one.name not in tree) if one.name in names else one)


def with_tree(rng: np.random.Generator, model: fm.Model) -> fm.Model:
    """The model, with another tree where laws are on joints that the compiler would cut."""
    try:
        fm.compile(model)
    except fm.ModelError as error:
        if "cut=True" in str(error):
            return recut(rng, model)
        raise
    return model


def carries(model: fm.Model, tree: set[str], joint: JointBase) -> bool:
    """Whether F of a joint of the tree is nearer to the ground than M, as that of a nonholonomic one must be."""
    group = joined(model)
    for one in model.joints:
        if one.name in tree - {joint.name}:
            unite(group, one)
    return group[joint.F.body.name] == group[model.ground.name]
