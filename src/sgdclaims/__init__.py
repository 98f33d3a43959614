"""Executable claims about SGD noise and large learning rates."""

__version__ = "0.1.0"
