"""The functions of FMI 2.0 and 3.0, which the FMU's binary exports."""

NAMES = """
GetTypesPlatform GetVersion SetDebugLogging Instantiate FreeInstance SetupExperiment EnterInitializationMode
ExitInitializationMode Terminate Reset GetReal GetInteger GetBoolean GetString SetReal SetInteger SetBoolean SetString
GetFMUstate SetFMUstate FreeFMUstate SerializedFMUstateSize SerializeFMUstate DeSerializeFMUstate
GetDirectionalDerivative SetRealInputDerivatives GetRealOutputDerivatives DoStep CancelStep GetStatus GetRealStatus
GetIntegerStatus GetBooleanStatus GetStringStatus EnterEventMode NewDiscreteStates EnterContinuousTimeMode
CompletedIntegratorStep SetTime SetContinuousStates GetDerivatives GetEventIndicators GetContinuousStates
GetNominalsOfContinuousStates
"""
FMI2_FUNCTIONS = {f"fmi2{name}" for name in NAMES.split()}

NAMES3 = """
GetVersion SetDebugLogging InstantiateModelExchange InstantiateCoSimulation InstantiateScheduledExecution FreeInstance
EnterInitializationMode ExitInitializationMode EnterEventMode Terminate Reset GetClock SetClock
GetNumberOfVariableDependencies GetVariableDependencies GetFMUState SetFMUState FreeFMUState SerializedFMUStateSize
SerializeFMUState DeserializeFMUState GetDirectionalDerivative GetAdjointDerivative EnterConfigurationMode
ExitConfigurationMode GetIntervalDecimal GetIntervalFraction GetShiftDecimal GetShiftFraction SetIntervalDecimal
SetIntervalFraction SetShiftDecimal SetShiftFraction EvaluateDiscreteStates UpdateDiscreteStates
EnterContinuousTimeMode CompletedIntegratorStep SetTime SetContinuousStates GetContinuousStateDerivatives
GetEventIndicators GetContinuousStates GetNominalsOfContinuousStates GetNumberOfEventIndicators
GetNumberOfContinuousStates EnterStepMode GetOutputDerivatives DoStep ActivateModelPartition
"""
TYPES3 = """
Float32 Float64 Int8 UInt8 Int16 UInt16 Int32 UInt32 Int64 UInt64 Boolean String Binary
"""
VALUES3 = {f"fmi3{do}{of}" for do in ("Get", "Set") for of in TYPES3.split()}
FMI3_FUNCTIONS = {f"fmi3{name}" for name in NAMES3.split()} | VALUES3
EXPORTED = FMI2_FUNCTIONS | FMI3_FUNCTIONS
