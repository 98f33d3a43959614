"""Parameters of NE Figure 5: layer norms of a deep linear network on MNIST."""

from sgdclaims.parameters import FigureParameters, inferred, ours, stated


class Parameters(FigureParameters):
    """A deep linear network learns MNIST's one-hot labels with the squared loss."""

    hidden_layers: int = stated("hidden layers; D = hidden_layers + 1 matrices", ge=2)
    kappa: float = inferred("per-sample loss kappa |f(x) - y|^2, y one-hot", gt=0)
    width: int = ours("neurons per hidden layer, the number of classes: the rank", ge=1)
    eta: float = ours("stepsize of SGD and of GD", gt=0)
    batch_size: int = ours("images per SGD step, drawn with replacement", ge=1)
    steps: int = ours("steps of SGD and of GD", unit="steps", ge=1)
    initial_norm: float = ours("initial |W_i|_F^2 of every layer, left panel", gt=0)
    log_range: float = ours(
        "right panel: initial |W_i|_F^2 times exp(U(-log_range, log_range))", gt=0
    )
    points: int = ours("recorded steps", ge=2)
