"""The engine: stacked runs, random streams, samplers, recorders."""
