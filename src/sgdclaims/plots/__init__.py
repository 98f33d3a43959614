"""One module per figure: trajectories -> matplotlib Figure. No computing, no torch."""
