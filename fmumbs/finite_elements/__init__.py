"""From the matrices of finite elements to the modes and integrals of a flexible body."""
