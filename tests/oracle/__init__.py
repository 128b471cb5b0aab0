"""The dynamics of mechanisms by code that shares nothing with the package, which is tested against it."""

from oracle.answer import Answer
from oracle.dynamics import Oracle
from oracle.joints import Frame
from oracle.kinematics import State, point_in_body

__all__ = ["Answer", "Frame", "Oracle", "State", "point_in_body"]
