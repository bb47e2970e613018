"""What ATen's operations are in terms of the functions of arrays, a file for each family."""

from . import (  # noqa: F401
    attention,
    convolution,
    creation,
    indexing,
    normalization,
    places,
    pointwise,
    pooling,
    products,
    reductions,
    scatters,
    shapes,
    sorting,
    spectra,
    systems,
    transforms,
)
