"""Random mechanisms from the whole API, and the same mechanisms written in another way."""
