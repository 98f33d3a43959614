"""One module per figure: parameters -> trajectories and quantities. No plotting.

The contract: `experiments/<figure>.py` has `run(p, context) -> Outcome`, where `p` is the figure's validated
parameters.
"""
