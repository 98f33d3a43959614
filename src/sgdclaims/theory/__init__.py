"""The papers' formulas as pure functions, each citing its equation."""
