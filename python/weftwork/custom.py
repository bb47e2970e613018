"""Operations that a program adds: one name for a Python function, a body of traced operations and a C function."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from . import _core
from .errors import ArgumentTypeError, ArgumentValueError, Error, UnsupportedError
from .numpy.tracer import Trace, TracedArray, as_tensor, current_trace, raise_here, tracing, untraced, wrap
from .spec import Spec, to_extent
from .travel import operations, pickler_that_asks, reduced_op

__all__ = ["CustomOp", "custom_op"]

Attributes = dict[str, Any]
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.$-]*")
ENTRY = re.compile(r'(\w+) = (true|false|"(?:[^"\\]|\\.)*"|[^,}]+)')


class CustomOp:
    """An operation made by :func:`custom_op`; call it with arrays, in plain NumPy code or in a traced function."""

    def __init__(
        self, name: str, infer: Callable[..., Any], reference: Any, body: Any, native: Any, address: int
    ) -> None:
        self.name = name
        self.__doc__ = getattr(reference or body or infer, "__doc__", None)
        self._infer, self._reference, self._body, self._native = infer, reference, body, native
        evaluate = reference or body
        if evaluate or address:
            _core.add_custom_op(name, self._infer_specs, self._evaluate if evaluate else None, address)
        operations[name] = self

    def __call__(self, *arrays: Any, **attributes: Any) -> Any:
        config = config_text(attributes)
        if current_trace() is not None:
            return self._record(arrays, attributes, config)
        given = [read_only(array) for array in arrays]
        wanted = self._results([Spec(array.shape, array.dtype) for array in given], attributes)
        evaluate = self._reference or self._body
        values = self._checked(evaluate(*given, **attributes), wanted) if evaluate else self._run_native(given, config)
        # Arrays of their own and in row-major order, as a program gives them.
        values = [
            np.array(v, order="C") if any(np.may_share_memory(v, a) for a in given) else np.asarray(v, order="C")
            for v in values
        ]
        return values[0] if len(values) == 1 else tuple(values)

    def _results(self, operands: list[Spec], attributes: Attributes) -> list[Spec]:
        try:
            with untraced():
                result = self._infer(*operands, **attributes)
        except Error:
            raise
        except Exception as error:
            shown = ", ".join(f"{o.dtype} of shape {o.shape}" for o in operands)
            message = f"the inference function of '{self.name}' raised {type(error).__name__} for {shown}: {error}"
            self._raise_from(ArgumentValueError, message, "custom_op_infer", error)
        return [as_spec(self.name, one) for one in (result if type(result) in (tuple, list) else (result,))]

    @staticmethod
    def _raise_from(kind: type[Exception], message: str, label: str, cause: Exception) -> Any:
        try:
            raise_here(kind, message, label)
        except kind as error:
            raise error from cause

    def _checked(self, values: Any, wanted: list[Spec]) -> list[np.ndarray]:
        """What an implementation gave, as arrays of the types that were inferred."""
        given = [np.asarray(value) for value in (values if type(values) in (tuple, list) else (values,))]
        shown = lambda items: ", ".join(f"{item.dtype} of shape {tuple(item.shape)}" for item in items)
        if [(a.dtype, tuple(a.shape)) for a in given] != [(s.dtype, tuple(s.shape)) for s in wanted]:
            raise_here(
                ArgumentTypeError,
                f"'{self.name}' must give {shown(wanted)}, as its inference function says, got {shown(given)}",
                "custom_op_result",
            )
        return given

    def _record(self, arrays: tuple, attributes: Attributes, config: str) -> Any:
        operands = [as_tensor(array) for array in arrays]
        specs = [Spec(tuple(o.shape), o.dtype) for o in operands]
        wanted = self._results(specs, attributes)
        if self._body is not None:
            results = _core.apply_composite(self.name, operands, self._decomposition(specs, wanted, attributes), config)
        else:
            attrs: Attributes = {"call_target_name": self.name, "types": [(s.shape, s.dtype) for s in wanted]}
            if config:
                attrs["backend_config"] = config
            results = _core.apply_all("custom_call", operands, attrs)
        values = [wrap(result) for result in results]
        return values[0] if len(values) == 1 else tuple(values)

    def _decomposition(self, operands: list[Spec], wanted: list[Spec], attributes: Attributes) -> Any:
        """The body as a function of its own."""
        trace = Trace(self.name, bake=True)
        with tracing(trace):
            parameters = [_core.parameter(s.shape, s.dtype, f"x{i}") for i, s in enumerate(operands)]
            arrays = [TracedArray(p) for p in parameters]
            values = self._body(*arrays, **attributes)
            if trace.effects:
                raise_here(
                    UnsupportedError,
                    f"the body of '{self.name}' must not exchange arrays with other ranks",
                    "custom_op_effect",
                )
            values = values if type(values) in (tuple, list) else (values,)
            results = [as_tensor(value) for value in values]
            if any(not a._storage.tensor.is_same(p) for a, p in zip(arrays, parameters, strict=True)):
                raise_here(
                    ArgumentValueError, f"the body of '{self.name}' must not write its operands", "custom_op_write"
                )
            given = [Spec(tuple(r.shape), r.dtype) for r in results]
            if [repr(s) for s in given] != [repr(s) for s in wanted]:
                raise_here(
                    ArgumentTypeError,
                    f"the body of '{self.name}' must give {wanted}, as its inference function says, got {given}",
                    "custom_op_result",
                )
        inputs = [(p, f"x{i}", -1) for i, p in enumerate(parameters)]
        return _core.record_graph(self.name, inputs, [(r, f"output{i}", -1) for i, r in enumerate(results)]).flat()

    def _run_native(self, arrays: list[np.ndarray], config: str) -> list[np.ndarray]:
        """A plain call of an operation that has a C function only."""
        with tracing(Trace(self.name)):
            parameters = [_core.parameter(a.shape, a.dtype, "") for a in arrays]
            result = self._record(tuple(wrap(p) for p in parameters), config_values(config), config)
        outputs = [(value.tensor, "", -1) for value in (result if isinstance(result, tuple) else (result,))]
        graph = _core.record_graph(self.name, [(p, "", -1) for p in parameters], outputs)
        return [value.copy() for value in graph.interpret(arrays)]

    # -- called from programs --------------------------------------------------------------------------------------

    def _infer_specs(self, operands: Any, config: str) -> list[tuple[Any, Any]]:
        specs = self._results([Spec(tuple(shape), dtype) for shape, dtype in operands], config_values(config))
        return [(spec.shape, spec.dtype) for spec in specs]

    def _evaluate(self, arrays: list[np.ndarray], results: Any, config: str) -> list[np.ndarray]:
        evaluate = self._reference or self._body
        with untraced():
            values = evaluate(*arrays, **config_values(config))
        return self._checked(values, [Spec(tuple(shape), dtype) for shape, dtype in results])

    def __reduce_ex__(self, protocol: Any) -> Any:
        return reduced_op(self, pickler_that_asks())

    def __copy__(self) -> CustomOp:
        return self

    def __deepcopy__(self, memo: Any) -> CustomOp:
        return self

    def __repr__(self) -> str:
        return f"<weftwork.CustomOp {self.name}>"


def as_spec(name: str, given: Any) -> Spec:
    """What an inference function gave: a Spec, or an array or the like in its place."""
    if isinstance(given, Spec):
        return given
    try:
        return Spec(tuple(to_extent(extent) for extent in given.shape), np.dtype(given.dtype))
    except (AttributeError, TypeError, ValueError):
        return raise_here(
            ArgumentTypeError,
            f"the inference function of '{name}' must give wf.spec(shape, dtype), got {given!r}",
            "custom_op_infer",
        )


def read_only(value: Any) -> np.ndarray:
    array = np.asarray(value)
    view = array.astype(array.dtype.newbyteorder("="), copy=False).view()
    view.flags.writeable = False
    return view


def config_text(attributes: Attributes) -> str:
    """Attributes as MLIR writes a dictionary, in the order of their names."""
    parts = []
    for key in sorted(attributes):
        value = attributes[key]
        if isinstance(value, (bool, np.bool_)):
            text = "true" if value else "false"
        elif isinstance(value, (int, np.integer)):
            text = f"{int(value)} : i64"
        elif isinstance(value, (float, np.floating)) and np.isfinite(value):
            text = f"{float(value):.17e} : f64"
        elif isinstance(value, str) and value.isascii() and value.isprintable():
            text = '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
        else:
            return raise_here(
                ArgumentTypeError,
                f"attribute '{key}' must be a boolean, integer, finite float or text, got {value!r}",
                "custom_op_attribute",
            )
        parts.append(f"{key} = {text}")
    return "{" + ", ".join(parts) + "}" if parts else ""


def config_values(config: str) -> Attributes:
    """The reverse of config_text."""
    values: Attributes = {}
    for key, text in ENTRY.findall(config):
        number, _, kind = text.partition(" : ")
        if text in ("true", "false"):
            values[key] = text == "true"
        elif text.startswith('"'):
            values[key] = re.sub(r"\\(.)", r"\1", text[1:-1])
        else:
            values[key] = float(number) if kind.startswith("f") else int(number)
    return values


def address_of(native: Any) -> int:
    """The address of a C function: given as such, by ctypes, or in a PyCapsule."""
    if isinstance(native, int) and not isinstance(native, bool):
        return native
    if isinstance(native, ctypes._CFuncPtr):
        return ctypes.cast(native, ctypes.c_void_p).value or 0
    if type(native).__name__ == "PyCapsule":
        return _core.capsule_address(native)
    raise ArgumentTypeError(
        f"native must be an address, a ctypes function or a PyCapsule, got {type(native).__name__}  [custom_op_native]"
    )


def custom_op(
    name: str,
    infer: Callable[..., Any],
    *,
    reference: Callable[..., Any] | None = None,
    body: Callable[..., Any] | None = None,
    native: Any = None,
) -> CustomOp:
    """Adds an operation, for as long as the process runs, and returns it as a function of arrays.

    ``infer(*operands, **attributes)`` takes an object with ``shape`` and ``dtype`` for each array (extents may be symbolic)
    and gives ``wf.spec(shape, dtype)``, or a tuple of them. Of the implementations one is enough:

    - ``reference(*arrays, **attributes)``: NumPy arrays in and out, used by plain calls and ``wf.simulate``, and by compiled
      programs where there is nothing else; those call back into Python. Its exceptions become a :class:`RuntimeError` that
      names the line of the call. Results must be what ``infer`` says.
    - ``body(*arrays, **attributes)``: a function of traced arrays; the operation is a composite, its text
      ``stablehlo.composite``, and compiled like the rest of the program.
    - ``native``: a C function ``void f(const int64_t* numbers, void* const* buffers)``, given as an address, by ctypes or in
      a PyCapsule. Buffers are dense and row-major, operands first. Numbers: of operands, of results; for each buffer its
      dtype, rank and extents; then the integer and boolean attributes in the order of their names. Not with ``body``.

    Attributes are keyword arguments: booleans, integers, finite floats and text. Operands must not be written. Raises a
    :class:`ValueError` where the name is taken.

    >>> import numpy as np, weftwork as wf
    >>> twice = wf.custom_op("doc.twice", lambda x: wf.spec(x.shape, x.dtype), reference=lambda x: x * 2)
    >>> wf.jit(lambda x: twice(x) + 1)(np.ones(2)).tolist()
    [3.0, 3.0]
    """
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise ArgumentValueError(f"a name must be letters, digits and . _ $ -, got {name!r}  [custom_op_name]")
    for what, function in (("infer", infer), ("reference", reference), ("body", body)):
        if function is not None and not callable(function):
            raise ArgumentTypeError(f"{what} must be a function, got {type(function).__name__}  [custom_op_function]")
    if infer is None or (reference is None and body is None and native is None):
        raise ArgumentTypeError(
            f"'{name}' needs an inference function and an implementation: reference, body or native  [custom_op_function]"
        )
    if body is not None and native is not None:
        raise ArgumentTypeError(
            f"'{name}' has a body, which is compiled: it takes no native function  [custom_op_native]"
        )
    address = address_of(native) if native is not None else 0
    if native is not None and not address:
        raise ArgumentValueError(f"the native function of '{name}' is null  [custom_op_native]")
    return CustomOp(name, infer, reference, body, native, address)
