"""Losses: how far predictions are from what is wanted, as their mean, sum or each."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import ArgumentValueError
from .functions import from_zero, log_softmax, softplus, wide

__all__ = [
    "binary_cross_entropy", "binary_cross_entropy_with_logits", "cosine_similarity", "cross_entropy", "huber_loss", "kl_div", "l1_loss", "mse_loss",
    "nll_loss", "smooth_l1_loss",
]  # fmt: skip


def reduced(losses: Any, reduction: str, weights: Any = None) -> Any:
    """The mean (over the weights, if any), the sum or all of them."""
    if reduction not in ("mean", "sum", "none"):
        raise ArgumentValueError(f"reduction is 'mean', 'sum' or 'none', got {reduction!r}  [reduction]")
    if reduction == "none":
        return losses
    total = np.sum(losses)
    if reduction == "sum":
        return total
    return np.mean(losses) if weights is None else total / np.sum(weights)


def mse_loss(x: Any, wanted: Any, reduction: str = "mean") -> Any:
    """The squared differences."""
    return reduced(np.square(x - wanted), reduction)


def l1_loss(x: Any, wanted: Any, reduction: str = "mean") -> Any:
    """The absolute differences."""
    return reduced(np.abs(x - wanted), reduction)


def huber_loss(x: Any, wanted: Any, delta: float = 1.0, reduction: str = "mean") -> Any:
    """Half of the squared differences up to delta, and linear beyond; Huber, 1964."""
    size = np.abs(x - wanted)
    return reduced(np.where(size < delta, 0.5 * size * size, delta * (size - 0.5 * delta)), reduction)


def smooth_l1_loss(x: Any, wanted: Any, beta: float = 1.0, reduction: str = "mean") -> Any:
    """Half of the squared differences over beta up to beta, and linear beyond."""
    size = np.abs(x - wanted)
    return reduced(size if beta == 0 else np.where(size < beta, 0.5 * size * size / beta, size - 0.5 * beta), reduction)


def cross_entropy(
    logits: Any,
    wanted: Any,
    weight: Any = None,
    *,
    ignore_index: int = -100,
    label_smoothing: float = 0.0,
    reduction: str = "mean",
) -> Any:
    """Minus the logarithm of the wanted class's softmax, of (classes,) or (batch, classes, ...).

    ``wanted`` are class numbers, of the shape without the classes, or probabilities of the shape of ``logits``. ``weight`` is one for
    each class; the mean is over the weights of the wanted classes. What is ``ignore_index`` counts for nothing.
    """
    logarithms, axis = log_softmax(wide(logits), min(1, logits.ndim - 1)), min(1, logits.ndim - 1)
    classes = logits.shape[axis]
    shape = [1] * logits.ndim
    shape[axis] = classes
    weights = np.ones(classes, logarithms.dtype) if weight is None else weight
    if wanted.dtype.kind in "iub":
        losses, counted = nll_loss(logarithms, wanted, weight, ignore_index=ignore_index, reduction="none"), None
        if label_smoothing:
            flat = -np.sum(logarithms * weights.reshape(shape), axis=axis) / classes
            losses = (1 - label_smoothing) * losses + label_smoothing * np.where(wanted == ignore_index, 0, flat)
        if reduction == "mean":
            counted = taken(weights, wanted, ignore_index)
        return reduced(losses, reduction, counted)
    smooth = wanted * (1 - label_smoothing) + label_smoothing / classes if label_smoothing else wanted
    losses = -np.sum(logarithms * smooth * weights.reshape(shape), axis=axis)
    return reduced(losses, reduction)


def nll_loss(
    logarithms: Any, wanted: Any, weight: Any = None, *, ignore_index: int = -100, reduction: str = "mean"
) -> Any:
    """Minus the wanted class's entry of logarithms of probabilities; arguments are :func:`cross_entropy`'s."""
    axis = min(1, logarithms.ndim - 1)
    if wanted.ndim != logarithms.ndim - 1 or wanted.shape != (*logarithms.shape[:axis], *logarithms.shape[axis + 1 :]):
        raise ArgumentValueError(
            f"classes of shape {wanted.shape} do not fit logits of shape {logarithms.shape}  [loss_shape]"
        )
    weights = np.ones(logarithms.shape[axis], logarithms.dtype) if weight is None else weight
    places = from_zero(np.where(wanted == ignore_index, 0, wanted), logarithms.shape[axis])
    index = np.expand_dims(places, axis)
    chosen = np.take_along_axis(logarithms, index.astype(np.int64), axis).squeeze(axis)
    factors = taken(weights, wanted, ignore_index)
    return reduced(np.where(wanted == ignore_index, 0, -chosen * factors), reduction, factors)


def taken(weights: Any, wanted: Any, ignore_index: int) -> Any:
    """The weight of each wanted class; 0 for what is ignored."""
    is_ignored = wanted == ignore_index
    return np.where(is_ignored, 0, np.take(weights, np.where(is_ignored, 0, wanted)))


def binary_cross_entropy(x: Any, wanted: Any, weight: Any = None, reduction: str = "mean") -> Any:
    """-(wanted log x + (1 - wanted) log (1 - x)); logarithms are at least -100, as torch has it."""
    losses = -(wanted * np.maximum(np.log(x), -100) + (1 - wanted) * np.maximum(np.log1p(-x), -100))
    return reduced(losses if weight is None else losses * weight, reduction)


def binary_cross_entropy_with_logits(x: Any, wanted: Any, weight: Any = None, reduction: str = "mean") -> Any:
    """The binary cross entropy of sigmoid(x), without overflow."""
    losses = softplus(x) - x * wanted
    return reduced(losses if weight is None else losses * weight, reduction)


def kl_div(x: Any, wanted: Any, reduction: str = "mean", log_target: bool = False) -> Any:
    """wanted (log wanted - x), of logarithms x: the divergence of Kullback and Leibler. ``reduction`` may be "batchmean" too."""
    if log_target:
        losses = np.exp(wanted) * (wanted - x)
    else:
        losses = np.where(wanted > 0, wanted * np.log(np.where(wanted > 0, wanted, 1)), 0) - wanted * x
    return np.sum(losses) / losses.shape[0] if reduction == "batchmean" else reduced(losses, reduction)


def cosine_similarity(x: Any, y: Any, axis: int = 1, eps: float = 1e-8) -> Any:
    """The cosine of the angle between vectors along an axis; lengths are at least eps."""
    lengths = [np.maximum(np.sqrt(np.sum(a * a, axis=axis)), eps) for a in (x, y)]
    return np.sum(x * y, axis=axis) / (lengths[0] * lengths[1])
