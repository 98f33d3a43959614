"""Networks as pure functions of (parameters, inputs), with closed-form gradients, stacked over runs."""
