"""Running a program under the gate: the launcher outside, the bootstrap inside."""
