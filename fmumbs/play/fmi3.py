"""FMUs of FMI 3.0 under the names that FMPy has for FMI 2.0, so that the rest asks no FMU for its version."""

from collections.abc import Sequence
from typing import Any

_TYPES = {"Float64": "Real", "Int32": "Integer"}
_NAMES = {
    "getReal": "getFloat64", "setReal": "setFloat64", "getInteger": "getInt32", "setInteger": "setInt32",
    "getFMUstate": "getFMUState", "setFMUstate": "setFMUState", "freeFMUstate": "freeFMUState",
    "serializeFMUstate": "serializeFMUState", "deSerializeFMUstate": "deserializeFMUState",
    "getRealOutputDerivatives": "getOutputDerivatives", "newDiscreteStates": "updateDiscreteStates",
    "getDerivatives": "getContinuousStateDerivatives",
}  # fmt: skip


def name_as_fmi2(description: Any, root: Any) -> None:
    """Gives FMPy's description of an FMU of FMI 3.0 the names of FMI 2.0; vectors keep theirs, as they are not read.

    root: of modelDescription.xml (lxml), in which FMPy does not find directional derivatives.
    """
    for variable in description.modelVariables:
        if not variable.dimensions:
            variable.type = _TYPES.get(variable.type, variable.type)
    for tag, one in (("CoSimulation", description.coSimulation), ("ModelExchange", description.modelExchange)):
        if one is not None:
            provided = root.find(tag).get("providesDirectionalDerivatives")
            one.providesDirectionalDerivative = provided in ("true", "1")


class AsFmi2:
    """FMPy's FMU3Slave or FMU3Model, `model`, called as FMU2Slave and FMU2Model are."""

    def __init__(self, model: Any) -> None:
        self.model = model
        self._experiment: dict[str, Any] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self.model, _NAMES.get(name, name))

    def setupExperiment(self, **experiment: Any) -> None:
        """FMI 3.0 is told when initialization mode is entered."""
        self._experiment = experiment

    def enterInitializationMode(self) -> None:
        self.model.enterInitializationMode(**self._experiment)

    def doStep(self, t: float, step: float) -> None:
        """A step that ends where it should, as earlyReturnAllowed is false."""
        self.model.doStep(t, step)

    def getBoolean(self, references: Sequence[int]) -> list[bool]:
        return [bool(value) for value in self.model.getBoolean(references)]
