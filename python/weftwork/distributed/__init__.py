"""Programs of several ranks: processes or threads that compute together and exchange arrays.

>>> import numpy as np, weftwork as wf
>>> def step():
...     gradient = np.full(2, 1.0 + wf.distributed.rank())
...     return wf.distributed.all_reduce(gradient, "mean").tolist()
>>> wf.distributed.spawn(step, 2, method="thread")
[[1.5, 1.5], [1.5, 1.5]]
"""

from .collectives import (
    all_gather,
    all_reduce,
    all_to_all,
    barrier,
    broadcast,
    collective_permute,
    recv,
    reduce_scatter,
    send,
)
from .ranks import Communicator, init, rank, shutdown, size
from .sharding import Mesh, Sharded, Sharding, constrain, shard, shard_graph
from .spawn import spawn

__all__ = [
    "Communicator",
    "Mesh",
    "Sharded",
    "Sharding",
    "all_gather",
    "all_reduce",
    "all_to_all",
    "barrier",
    "broadcast",
    "collective_permute",
    "constrain",
    "init",
    "rank",
    "recv",
    "reduce_scatter",
    "send",
    "shard",
    "shard_graph",
    "shutdown",
    "size",
    "spawn",
]
