"""Single instructions that Python itself carries out: functions whose code is that instruction alone."""

from __future__ import annotations

import builtins
import dis
from functools import lru_cache
from types import FunctionType
from typing import Any

__all__ = ["native_instruction"]


def template(a: Any, b: Any) -> Any:
    return None


TABLES: dict[str, Any] = {"co_exceptiontable": b""} if hasattr(template.__code__, "co_exceptiontable") else {}


@lru_cache(maxsize=256)
def native_instruction(name: str, arg: int, operands: int, results: int = 1, names: tuple[str, ...] = ()) -> Any:
    """A function of one or two operands that gives what the instruction leaves on the stack, as a tuple if it is more."""
    code = bytearray()
    if "RESUME" in dis.opmap:
        code += bytes((dis.opmap["RESUME"], 0))
    for place in range(operands):
        code += bytes((dis.opmap["LOAD_FAST"], place))
    code += bytes((dis.opmap[name], arg))
    if results > 1:
        code += bytes((dis.opmap["BUILD_TUPLE"], results))
    code += bytes((dis.opmap["RETURN_VALUE"], 0))
    made = template.__code__.replace(co_code=bytes(code), co_names=names, co_stacksize=8, **TABLES)
    return FunctionType(made, {"__builtins__": builtins}, name, (None, None))
