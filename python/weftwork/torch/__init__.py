"""PyTorch: a backend of torch.compile."""

from .backend import backend

__all__ = ["backend"]
