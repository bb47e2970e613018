"""Fragments with random numbers: NumPy's and Python's global generators, and generators of a program's own."""

from __future__ import annotations

from .builder import Builder
from .registry import fragment


@fragment
def global_draw(b: Builder) -> None:
    if b.chance(0.4):
        b.emit(f"np.random.seed({b.literal('int')})")
    kind, text = b.pick(
        ("vec", "np.random.randn(3)"), ("vec", "np.random.rand(3)"), ("float", "np.random.rand()"), ("vec", "np.random.normal(0, 1, 3)"),
        ("int", "np.random.randint(0, 5)"), ("vec", "np.random.uniform(size=3)"), ("vec", "np.random.permutation(3) * 1.0"), ("float", "np.random.choice(x)"),
    )  # fmt: skip
    b.let(kind, text)
    b.between += ["np.random.seed(7)", "np.random.rand(2)"]


@fragment
def draws_in_loop(b: Builder) -> None:
    v = b.let("vec", "np.zeros(3)")
    b.emit(
        f"for i in range({b.pick('3', '3', '30')}):",
        b.pick(
            f"    {v} = 0.5 * {v} + np.random.randn(3)",
            f"    {v}[i % 3] += random.random()",
            f"    if np.random.rand() > 0.5:\n        {v} += 0.1",
            f"    np.random.seed(i)\n    {v} = {v} + np.random.rand(3)",
        ),
    )


@fragment
def python_draw(b: Builder) -> None:
    if b.chance(0.3):
        b.emit(f"random.seed({b.literal('int')})")
    kind, text = b.pick(
        ("float", "random.random()"),
        ("float", "random.gauss(0, 1)"),
        ("int", "random.randint(0, 4)"),
        ("float", "random.choice([0.5, 1.5])"),
        ("int", "random.randrange(3)"),
    )
    b.let(kind, text)
    b.between.append("random.seed(1)")


@fragment
def shuffled(b: Builder) -> None:
    b.emit(
        b.pick(
            f"random.shuffle({b.place('list').text})",
            f"np.random.shuffle({b.place('vec').text})",
            "np.random.shuffle(m)",
        )
    )


@fragment
def generator_outside(b: Builder) -> None:
    name = b.name("rng")
    b.top(f"{name} = {b.pick('np.random.default_rng(3)', 'np.random.RandomState(3)', 'random.Random(3)')}")
    made = b.tops[-1]
    b.between.append(f"{name}.random()")
    if "random.Random" in made and "np." not in made:
        b.let("float", f"{name}.random()")
    else:
        b.let(
            *b.pick(
                ("vec", f"{name}.normal(size=3)"),
                ("float", f"{name}.random()"),
                ("float", f"{name}.uniform(0, 2)"),
                ("vec", f"{name}.permutation(m[0])"),
                ("vec", f"{name}.choice(x, 3)"),
            )
        )


@fragment
def generator_inside_call(b: Builder) -> None:
    name = b.name("rng")
    b.emit(f"{name} = np.random.default_rng({b.pick('0', b.any('int'))})")
    b.let(
        *b.pick(
            ("vec", f"{name}.normal(size=3)"),
            ("vec", f"{name}.standard_normal(3)"),
            ("int", f"{name}.integers(3)"),
            ("vec", f"x[{name}.choice(len(x), 3, replace=False)]"),
        )
    )
    if b.chance(0.3):
        b.results.append(name)


@fragment
def noise(b: Builder) -> None:
    """A mask of what is dropped, or noise that is added."""
    b.let(
        "vec",
        b.pick(
            "x[:3] * (np.random.rand(3) > 0.5)",
            "x[:3] + 0.1 * np.random.randn(*x[:3].shape)",
            "np.where(np.random.rand(3) < 0.5, x[:3], 0.0)",
        ),
    )
