"""Programs in the syntax of Python 3.11, 3.12 and 3.13, as text: an older Python cannot read them."""

# ruff: noqa
# fmt: off
import sys

from . import attempt, chain, program

FROM_3_11 = '''
def groups(errors, nested=False):
    log = []
    def run():
        try:
            try:
                if errors:
                    raise ExceptionGroup("eg", list(errors))
            except* ValueError as group:
                log.append(("value", [e.args for e in group.exceptions]))
                if nested:
                    raise KeyError("from handler")
            except* (TypeError, OSError) as group:
                log.append(("type", len(group.exceptions)))
                if nested:
                    raise
            else:
                log.append("else")
            finally:
                log.append("finally")
        except ExceptionGroup as rest:
            log.append(("rest", [type(e).__name__ for e in rest.exceptions]))
        return "end"
    return attempt(run), log

def plain_error():
    try:
        raise ValueError("plain")
    except* ValueError as group:
        return_value = type(group).__name__, len(group.exceptions)
    return return_value

def loops():
    out = []
    for i in range(3):
        try:
            if i:
                raise ExceptionGroup("g", [ValueError(i), KeyError(i)])
        except* ValueError:
            out.append(i)
        except* KeyError as group:
            out.append(group.exceptions[0].args)
    return out

def subscripts():
    ts = (1, 2)
    d = {(0, 1, 2): "x"}
    return d[0, *ts]

def notes():
    try:
        raise ValueError("n")
    except ValueError as error:
        error.add_note("one")
        return error.__notes__
'''

FROM_3_12 = '''
def generic():
    def first[T](items: list[T], default: T = None) -> T:
        return items[0] if items else default
    class Many[*Ts, **P]:
        pass
    class Box[T]:
        def __init__(self, value: T):
            self.value = value
        def map[U](self, f: "Callable[[T], U]") -> "Box[U]":
            return Box(f(self.value))
    class Sub[T: (int, str)](Box[T]):
        def get(self):
            return super().map(lambda v: v).value
    type Alias[K] = dict[K, list[K]]
    def bounded[T: int](x: T) -> T:
        return x
    return (first([4]), first([], 2), str(first.__type_params__), Box(3).map(str).value, str(Box.__type_params__), str(Many.__type_params__), Sub(6).get(), Alias.__name__, str(Alias.__value__),
            str(Alias[int]), bounded(4), str(bounded.__type_params__[0].__bound__), str(Sub.__type_params__[0].__constraints__), Box.__name__, first.__qualname__)

def formats(name, n):
    return f"{name!r:>{n + 10}} {"quotes " + f"{n:{"0" + str(3)}}"} {f"{f"{n}"}"} {\'\\n\'.join([name])}"

def comprehension_in_class():
    outer = 3
    class C:
        a = [1, 2]
        b = [x * outer for x in a]
        c = [[y for y in a_] for a_ in [a]]
        d = (lambda: [outer for _ in range(2)])()
    return C.b, C.c, C.d

def comprehension_locals():
    a = 1
    return [sorted(k for k in locals() if k in ("a", "i")) for i in range(2)], [sorted(locals()) for i in range(1)]

def typed():
    type A = int | B
    def lazy():
        return A.__value__
    return attempt(lazy), A.__name__
'''

FROM_3_13 = '''
def defaults_of_types():
    class Box[T = int, *Ts = *tuple[int, str]]:
        pass
    type Alias[K = str] = list[K]
    return str(Box.__type_params__[0].__default__), Box.__type_params__[1].has_default(), str(Alias.__type_params__[0].__default__)

def closed_value():
    def g():
        try:
            yield 1
        except GeneratorExit:
            return "closed"
    made = g()
    next(made)
    return made.close()

def views():
    x = 1
    first = locals()
    first["x"] = 5
    exec("y = 3")
    return x, sorted(first), attempt(lambda: y_is_not_there)
'''


def made(source, version):
    space = {"attempt": attempt, "chain": chain, "__name__": __name__}
    if sys.version_info >= version:
        exec(source, space)
    return {name: value for name, value in space.items() if getattr(value, "__module__", "") == __name__ and value not in (attempt, chain)}


programs = made(FROM_3_11, (3, 11)) | made(FROM_3_12, (3, 12)) | made(FROM_3_13, (3, 13))
ERRORS = [ValueError(1), TypeError(2), OSError(3), KeyError(4)]
for name, function in programs.items():
    if name == "groups":
        for errors in ([], ERRORS[:1], ERRORS[1:3], ERRORS[3:], ERRORS):
            program(errors)(function)
            program(errors, True)(function)
    elif name == "formats":
        program("abc", 7)(function)
    else:
        program()(function)


async def coroutine():
    return 1


async def asynchronous_generator():
    yield 1
