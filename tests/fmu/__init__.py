"""What the tests of FMUs share."""
