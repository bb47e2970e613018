"""What a call costs: small arrays, NumPy in and out."""

from __future__ import annotations

from typing import Any

from bench.workload import family, normal

declare = family("call")


def total(*args: Any) -> Any:
    result = args[0] + 1
    for arg in args[1:]:
        result = result + arg
    return result


for count in (1, 10, 100):
    declare(
        f"call {count} arguments" if count > 1 else "call 1 argument",
        total,
        lambda count=count: tuple(normal(8) for _ in range(count)),
        torch=total,
        numpy_in_and_out=True,
    )
