"""Random mechanisms, measures of agreement and hosts of FMUs that several tests use."""
