"""Programs about classes: super, the __class__ cell, metaclasses, properties, descriptors, dataclasses, enums and named tuples."""

# ruff: noqa
# fmt: off
import abc
import collections
import dataclasses
import enum
import functools
import typing

from . import attempt, program


@program()
def supers():
    class A:
        def __init__(self, x=1):
            self.x = x

        def who(self):
            return ["A"]

        @property
        def prop(self):
            return "prop A"

        @classmethod
        def make(cls, *args):
            return cls(*args)

        @staticmethod
        def static():
            return "static"

    class B(A):
        def __init__(self, x, y=2):
            super().__init__(x)
            self.y = y

        def who(self):
            return ["B", *super().who()]

        @property
        def prop(self):
            return "B " + super().prop

        @classmethod
        def make(cls, *args):
            made = super().make(*args)
            made.tag = __class__.__name__
            return made

    class C(A):
        def who(self):
            return ["C", *super(C, self).who()]

    class D(B, C):
        def who(self):
            f = super
            return ["D", *f().who(), super().static(), __class__ is D, super().__self__ is self]

        def with_cell(self, *rest):
            def inner():
                return self

            self = inner()
            return super().who()

        def in_comprehension(self):
            return [super(D, s).who() for s in [self]], [type(v).__name__ for v in [self]]

    d = D(5)
    return d.who(), d.x, d.y, d.prop, D.make(3).tag, d.with_cell(1), d.in_comprehension(), [k.__name__ for k in D.__mro__]


@program()
def supers_that_fail():
    class A:
        def no_arguments():
            return super()

        def deleted(self):
            del self
            return super()

        def replaced(self):
            self = 5
            return super().x

        def missing(self):
            return super().nothing

        def nested(self):
            def inner():
                return super()

            return inner()

        def generator(self):
            yield super().__init__
            yield super().nothing

        def first_star(*args):
            return super().__init__

    def outside():
        return super()

    a = A()
    return [attempt(f) for f in (A.no_arguments, a.deleted, a.replaced, a.missing, a.nested, outside, lambda: list(a.generator()), lambda: a.first_star())]


@program()
def shadowed_super():
    class A:
        def f(self):
            super = lambda *args: [len(args)]
            return super().append, super(A, self)

    first, second = A().f()
    return first.__name__, second


@program()
def metaclasses():
    log = []

    class Meta(type):
        @classmethod
        def __prepare__(mcs, name, bases, **kwargs):
            log.append(("prepare", name, kwargs))
            return {"prepared": True}

        def __new__(mcs, name, bases, space, **kwargs):
            log.append(("new", name, sorted(k for k in space if not k.startswith("__"))))
            return super().__new__(mcs, name, bases, space)

        def __init__(cls, name, bases, space, **kwargs):
            super().__init__(name, bases, space)
            cls.options = kwargs

        def __call__(cls, *args):
            log.append(("call", args))
            return super().__call__(*args)

        def __getitem__(cls, key):
            return cls.__name__, key

        @property
        def upper(cls):
            return cls.__name__.upper()

    class A(metaclass=Meta, option=1):
        def __init__(self, *args):
            self.args = args

    class B(A):
        x = 5

    def keyword_only(name, bases, space):
        return name, len(bases), sorted(k for k in space if not k.startswith("__"))

    class C(metaclass=keyword_only):
        a = b = 1

    return log, A(1, 2).args, B(3).args, A[4], B.upper, A.options, B.options, B.prepared, C


@program()
def descriptors():
    log = []

    class Field:
        def __set_name__(self, owner, name):
            self.name = name
            log.append((owner.__name__, name))

        def __get__(self, obj, kind=None):
            return self if obj is None else obj.__dict__.get(self.name, "unset")

        def __set__(self, obj, value):
            log.append(value)
            obj.__dict__[self.name] = value

        def __delete__(self, obj):
            del obj.__dict__[self.name]

    class A:
        f = Field()

        def __init__(self):
            self._p = 0

        @property
        def p(self):
            return self._p

        @p.setter
        def p(self, value):
            if value < 0:
                raise ValueError("negative")
            self._p = value

        @p.deleter
        def p(self):
            self._p = None

        @functools.cached_property
        def c(self):
            log.append("computed")
            return 42

        def __getattr__(self, name):
            if name == "dynamic":
                return "made"
            raise AttributeError(f"no {name}")

        def __setattr__(self, name, value):
            log.append(("set", name))
            object.__setattr__(self, name, value)

    a = A()
    first = a.f
    a.f = 3
    a.p = 5
    a.p += 2
    seen = a.p, a.f, first, a.dynamic, a.c, a.c
    del a.p, a.f

    def negative():
        a.p = -1

    return seen, a.p, a.f, attempt(negative), attempt(lambda: a.nothing), log, isinstance(A.f, Field)


@program()
def data_classes_made():
    @dataclasses.dataclass(order=True)
    class Point:
        x: int
        y: int = 0
        tags: list = dataclasses.field(default_factory=list, compare=False)

        def __post_init__(self):
            self.total = self.x + self.y

    @dataclasses.dataclass(frozen=True)
    class Frozen:
        z: int = 5

    f = Frozen()

    def change():
        f.z = 1

    made = dataclasses.make_dataclass("Row", [("a", int), ("b", str, "x")])
    p = Point(1, 2)
    return repr(p)[-30:], p < Point(2), p == Point(1, 2), dataclasses.asdict(p), dataclasses.replace(p, x=9).total, attempt(change), hash(f) == hash(Frozen()), repr(made(3)), made.__name__


@program()
def enumerations():
    class Color(enum.Enum):
        RED = 1
        GREEN = enum.auto()
        ALIAS = 1

        def pretty(self):
            return self.name.lower()

    class Bits(enum.Flag):
        A = 1
        B = 2

    made = enum.Enum("Made", "X Y")
    return [c.pretty() for c in Color], Color(1) is Color.ALIAS, Color["GREEN"].value, attempt(Color, 9)[0][0], (Bits.A | Bits.B).value, made.X.value, made.__module__, len(Color), Color.RED in Color


@program()
def named_tuples():
    class Row(typing.NamedTuple):
        a: int
        b: str = "x"

        def both(self):
            return self.a, self.b

    r = Row(1)
    a, b = r
    return tuple(r), tuple(r._replace(a=5)), r.both(), r._fields, a, b, attempt(Row), r == (1, "x")


@program()
def abstract_classes():
    class Shape(abc.ABC):
        @abc.abstractmethod
        def area(self): ...

        def double(self):
            return 2 * self.area()

    class Square(Shape):
        def __init__(self, side):
            self.side = side

        def area(self):
            return self.side**2

    @Shape.register
    class Other:
        pass

    return attempt(Shape)[0][0], Square(3).double(), isinstance(Other(), Shape), issubclass(int, Shape)


@program()
def special_methods():
    class Row(collections.abc.MutableSequence):
        def __init__(self, *items):
            self.items = list(items)

        def __getitem__(self, i):
            return self.items[i]

        def __setitem__(self, i, v):
            self.items[i] = v

        def __delitem__(self, i):
            del self.items[i]

        def __len__(self):
            return len(self.items)

        def insert(self, i, v):
            self.items.insert(i, v)

    r = Row(1, 2, 3)
    r.append(4)
    r += [5]
    del r[0]
    r[0] = 9
    return list(r), 3 in r, r.index(4), list(reversed(r)), r.pop(), len(r), bool(Row()), r[-1], r[1:]


@program()
def class_decorators():
    def add(**values):
        def wrap(kind):
            for name, value in values.items():
                setattr(kind, name, value)
            return kind

        return wrap

    @add(x=1, y=2)
    class A:
        "doc of A"

        __slots__ = ("slot",)

        def __class_getitem__(cls, item):
            return item

    a = A()
    a.slot = 4

    def other():
        a.other = 5

    return A.x, A.y, A.__doc__, a.slot, A[int], attempt(other)[0][0], A.__name__, (lambda: A)().__qualname__
