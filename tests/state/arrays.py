"""Fragments with arrays: writes to arguments and views, masks, shapes, copies, small arrays filled one by one."""

from __future__ import annotations

from .builder import Builder
from .registry import fragment


@fragment
def write_argument(b: Builder) -> None:
    a = b.pick("x", "x", "m[0]", "m")
    b.emit(b.pick(
        f"{a}[0] = {b.float()}", f"{a} *= 0.5" if "[" not in a else "m[0] *= 0.5", f"{a}[1:] = {a}[:-1]", f"{a}.sort()", f"{a}[{a} > 1] = 0.5",
        "x[:3] += m[0]", f"x[{b.any('int')} % 3] -= {b.float()}", "m.T[0] = 1.0", "x[::2] = 0.0", "x.reshape(-1, 1)[0] = 2.0",
        f"m[{b.any('int')} % 2] = {b.vec()}", f"m[{b.any('int')} % 2] += {b.float()}", f"x[{b.any('int')} % 2 :][:2] *= 0.5",
        f"m[:, {b.any('int')} % 2 : 2] -= 1.0",
    ))  # fmt: skip


@fragment
def write_view(b: Builder) -> None:
    v = b.name("view")
    text = b.pick(
        "x[1:]",
        "m[:, 0]",
        "m.ravel()",
        "x.reshape(-1)",
        "m.T",
        "x[::-1]",
        "np.asarray(x)",
        "m.view()",
        f"{b.variable('vec')}[1:]",
        "np.broadcast_to(x[:3], (2, 3))",
        f"m[{b.any('int')} % 2]",
        f"x[{b.any('int')} % 2 :]",
    )
    b.emit(f"{v} = {text}")
    b.emit(b.pick(f"{v}[0] = {b.float()}", f"{v} += 0.5", f"{v}[:] = 0.25", "x[0] = 9.0", "m[0, 0] = 9.0"))
    b.results += [v, f"{v}[1:]"]


@fragment
def local_array(b: Builder) -> None:
    c = b.name("w")
    b.emit(
        f"{c} = {b.pick('np.zeros(3)', 'np.array([1.0, 2.0, 0.5])', 'np.ones(3)', 'np.full(3, 0.5)', 'x[:3].copy()', 'np.empty(3)')}"
    )
    if "np.empty" in b.lines[-1]:
        b.emit(f"{c}[:] = 0.0")
    b.emit(
        b.pick(
            f"{c}[0] = x[0]",
            f"{c}[{b.any('int')} % 3] += {b.float()}",
            f"{c}[1:] = x[1:3]",
            f"for i in range(3):\n    {c}[i] = x[i] * i",
        )
    )
    b.know("vec", c)


@fragment
def held_array(b: Builder) -> None:
    """An array of constants that something else has too, written by one of its names."""
    own, held = b.name("own"), b.name("held")
    made = (
        "np.array([1.0, 2.0, 0.5])",
        "-np.array([1.0, 2.0, 0.5])",
        "np.array([2.0, 4.0]) * 0.5",
        "np.reshape([0.5, 1.0, 2.0], (3,))",
        "np.array([3, 1, 2])",
        "np.linspace(0.0, 1.0, 3)",
    )
    b.emit(f"{own} = {b.pick(*made)}")
    if b.chance(0.3):
        b.globals.add(own)
    holder, other = b.pick(
        (f"[{own}, 1.0]", f"{held}[0]"), (f"({own}, 2)", f"{held}[0]"), (f"{{'k': {own}}}", f"{held}['k']"), (f"{own}[1:]", held), (f"{own}[::-1]", held),
        (f"[[{own}], [{own}]]", f"{held}[1][0]"), (f"{own}", held), (f"lambda: {own}", f"{held}()"), (f"dict(a=({own},))", f"{held}['a'][0]"),
    )  # fmt: skip
    b.emit(f"{held} = {holder}")
    to, value = b.pick(own, other), b.pick(b.float(), "x[0]", "x.sum()", "0.5")
    b.emit(b.pick(
        f"{to}[{b.any('int')} % 2] = {value}", f"{to}[0] += {value}", f"for i in range({b.pick('3', '25')}):\n    {to}[i % 2] = {value} * i", f"np.add({to}, {value}, out={to}, casting='unsafe')",
        f"{to}.fill({value})", f"{to}[:] = x[0]", f"{to}.flat[0] = {value}", f"for i in range(20):\n    {to}[1] += 1", f"np.copyto({to}, {value}, casting='unsafe')",
    ))  # fmt: skip
    b.results += [own, other, f"{own}.sum()"]


@fragment
def collected(b: Builder) -> None:
    """Arrays that a loop appends to a list, as they are, copied, in part or as numbers, and what is written then."""
    v, kept = b.name("v"), b.name("kept")
    b.emit(
        f"{v} = {b.pick('x', 'x.copy()', 'm[0] * 1.0', 'x + 1.0')}", f"{kept} = {b.pick('[]', '[]', '[1.0]', f'[{v}]')}"
    )
    step = b.pick(
        f"{v} = {v} * 0.5 + i", f"{v} *= 0.5", f"{v} = {v} + {b.float()}", f"{v}[i % 3] += 1.0", f"{v} = np.sin({v})"
    )
    taken = b.pick(v, v, v, f"{v}.copy()", f"{v}.sum()", f"{v}[1:]", f"{v} * i", f"({v}, i)", f"{v}[0]")
    turn = [step, f"{kept}.append({taken})"]
    if b.chance(0.4):
        turn.reverse()
    if b.chance(0.3):
        turn.append(
            b.pick(f"{v}[0] = i", f"{kept}.append({v})", f"other = {kept}[-1]", f"{v} = {v} * 2", f"n = len({kept})")
        )
    b.emit(f"for i in range({b.pick('3', '12', '25')}):", *(f"    {line}" for line in turn))
    if b.chance(0.5):
        b.emit(b.pick(f"{v}[0] = 9.0", f"{v} *= 2.0", f"{kept}[-1] = 0.0", f"{kept}.append({v})", f"{kept}.reverse()"))
    b.results += [
        v,
        b.pick(kept, f"len({kept})", f"{kept}[-1]", f"{kept}[0]", f"np.array({kept}[-3:])", f"{kept}[-1] is {v}"),
    ]


@fragment
def masked(b: Builder) -> None:
    mask = b.pick("x > 0", f"x > {b.any('float')}", "~(x > 1)", "(x > 0) & (x < 2)", "x != 0")
    name = b.name("part")
    b.emit(f"{name} = x[{mask}]")
    b.results += [name, f"{name}.size", f"{name}.sum()", f"len({name})"]
    b.let(
        "float",
        b.pick(
            f"{name}.sum()", f"float({name}.size)", f"({name} * 2).sum()", f"np.median({name}) if {name}.size else 0.0"
        ),
    )


@fragment
def found(b: Builder) -> None:
    text = b.pick(
        "np.nonzero(x > 0)[0]",
        "np.flatnonzero(x)",
        "np.argwhere(m > 0)",
        "np.where(x > 0)",
        "np.unique(np.round(x))",
        "x.nonzero()",
        "np.argsort(x)",
        "np.unique(x, return_counts=True)",
    )
    name = b.name("found")
    b.emit(f"{name} = {text}")
    b.results += [name, f"len({name})"]


@fragment
def by_index(b: Builder) -> None:
    i = b.pick("int(np.argmax(x))", "np.argmax(x)", "x.argmin()", f"{b.any('int')} % 3", "np.int64(1)", "-1")
    name = b.let("int", i)
    b.let("float", b.pick(f"x[{name}]", f"m[-1][{name} % 3]", f"float(x[{name}])", f"x[{name}:].sum()"))


@fragment
def python_number(b: Builder) -> None:
    v = b.float()
    kind, text = b.pick(
        ("float", f"float({v})"), ("int", f"int({v})"), ("flag", f"bool({v} > 0)"), ("float", f"round({v}, 2)"), ("float", f"abs({v})"), ("float", "x.sum().item()"),
        ("int", f"round({v})"), ("float", f"max({v}, 0.5)"), ("float", f"min({v}, {b.any('float')})"), ("float", f"math.tanh({v})"), ("float", f"np.float64({v})"),
        ("int", f"math.floor({v})"), ("int", "x.size // 2"), ("float", f"complex({v}, 1).real"), ("int", "m.ndim"), ("float", f"divmod({v}, 2)[1]"), ("float", f"sum(x.tolist(), {v})"),
    )  # fmt: skip
    b.let(kind, text)


@fragment
def text_of(b: Builder) -> None:
    name = b.name("text")
    b.emit(f"{name} = " + b.pick(
        f"str({b.float()})", f'f"{{{b.any("float")}:.3f}}"', "repr(x)", "str(x.shape)", f"'{{}} {{}}'.format({b.any('int')}, {b.any('float')})", "str(x.dtype)",
        f'f"{{{b.any("int")}}}-{{len(x)}}"', "'%d rows' % len(m)", f"'p' if {b.condition()} else 'n'", "' '.join(str(e) for e in m.shape)",
    ))  # fmt: skip
    b.results += [name, f"len({name})", f"{name}[0]"]


@fragment
def printed(b: Builder) -> None:
    b.emit(
        f"print({b.pick(b.float(), b.vec(), b.any('int'), 'x.shape', 'type(x).__name__', repr('here') + ', ' + b.any('int'), 'x > 0', b.any('mode'))})"
    )


@fragment
def joined(b: Builder) -> None:
    name = b.name("both")
    b.emit(f"{name} = " + b.pick(
        "np.concatenate([x, m[0]])", "np.stack([m[0], m[1]])", f"np.array([{b.float()}, {b.float()}, 1])", "np.vstack([m, x[:3]])", "np.append(x, 1.0)",
        "np.array([row.sum() for row in m])", "np.outer(x, x)", "np.cumsum(x)", "np.array(m.tolist())", "np.arange(len(x)) * x", "np.repeat(x, 2)",
        "np.eye(3) @ x[:3]", "m @ x[:3]", "x[np.array([0, 2, 1])]", "x.astype(np.float32).astype(float)", "np.clip(x, -1, 1)", "np.diff(x)",
    ))  # fmt: skip
    b.results += [name, f"{name}.sum()", f"{name}.shape"]


@fragment
def reshaped_argument(b: Builder) -> None:
    name = b.name("grid")
    b.top(f"{name} = np.arange(6.0).reshape(2, 3)")
    b.emit(
        b.pick(f"{name}.shape = (3, 2)", f"{name}.shape = -1", f"{name}.resize(2, 3)", f"{name}.flat[0] = {b.float()}")
    )
    b.results += [name, f"{name}.shape"]


@fragment
def aliased(b: Builder) -> None:
    """Two names of one global array, or a view of it."""
    name, other = b.name("A"), b.name("A")
    b.top(f"{name} = {b.literal('vec')}\n{other} = {b.pick(name, f'{name}[::-1]', f'{name}[1:]', f'[{name}, {name}]')}")
    b.emit(b.pick(f"{name}[0] += {b.float()}", f"{name} *= 0.5", f"{name}[1:] = x[:2]"))
    if b.lines[-1].strip() == f"{name} *= 0.5":
        b.globals.add(name)
    b.let("float", f"float(np.sum({other}))")
    b.between.append(f"{name}[1] = 4.0")


@fragment
def writeable(b: Builder) -> None:
    name = b.name("fixed")
    b.top(f"{name} = {b.literal('vec')}\n{name}.flags.writeable = False")
    b.between.append(f"{name} = {b.literal('vec')}")
    b.let("vec", f"{name} * {b.vec()}")
    if b.chance(0.3):
        b.emit("try:", f"    {name}[0] = 1.0", "except ValueError:", f"    {b.place('int').text} += 1")


@fragment
def deleted(b: Builder) -> None:
    name, top = b.name("tmp"), b.name("cfg")
    b.top(f"{top} = {{'a': 1.0, 'b': [2.0]}}")
    b.emit(b.pick(
        f"{name} = {b.vec()}\ndel {name}", f"{top}.pop('a', None)", f"{top}['x'] = x", f"if 'a' in {top}:\n    del {top}['a']", f"{top}['b'] = {top}['b'] + [{b.float()}]",
        f"{top} |= {{'c': {b.float()}}}",
    ))  # fmt: skip
    if "|=" in b.lines[-1]:
        b.globals.add(top)
    b.between.append(f"{top}['a'] = 3.0")
    b.results.append(f"len({top})")


@fragment
def shared_storage(b: Builder) -> None:
    """State that is, from then on, an argument or a view of it."""
    p = b.place("vec").text
    b.emit(b.pick(f"{p} = x[:3]", f"{p} = m[0]", f"{p} = x[-3:]", f"{p} = m[:, :][1]"))
    b.emit(b.pick("x[0] += 1", f"{p}[0] = {b.float()}", "m[1, 1] = 0.5", "pass"))


@fragment
def computed_place(b: Builder) -> None:
    """Items of lists at places that the values of arrays say."""
    items, place = b.name("items"), b.name("place")
    b.emit(
        f"{items} = " + b.pick("[x[0], x[1], 2.0]", "[x[0], [x[1]], [3]]", "[x, m, x * 2]", "[0, 0, 0]", "list(x[:3])")
    )
    b.emit(
        f"{place} = "
        + b.pick(
            "x[:3].argmax()", "(x[:3] > 1).sum() % 3", "np.where(x > 0)[0][0] % 3", "np.searchsorted(x[:3], 1.0) % 3"
        )
    )
    b.emit(b.pick(
        f"{items}[{place}] = {b.float()}", f"{items}[{place}] = x[0]", f"del {items}[{place}]", f"{items}[{place} - 1] = x", f"{items}.insert({place}, x[0])",
        f"{items}[{place}:] = [x[0]]", f"{items}[{place}], {items}[0] = {items}[0], {items}[{place}]", f"{items}[{place}] = {items}[{place}] * 2", f"{items}.pop({place})",
    ))  # fmt: skip
    b.results += [items, f"len({items})", place]


@fragment
def selected(b: Builder) -> None:
    """What np.where and masks select, as many elements as values say."""
    name, mask = b.name("chosen"), b.pick("x > 0", "x > x.mean()", "x == x.max()", "x > 100")
    b.emit(
        f"{name} = "
        + b.pick(
            f"np.where({mask})[0]",
            f"np.flatnonzero({mask})",
            f"({mask}).nonzero()[0]",
            f"x[{mask}]",
            f"np.compress({mask}, x)",
        )
    )
    kind = b.pick("read", "written", "copied")
    if kind == "written":
        b.emit(b.pick(f"x[{mask}] = {b.float()}", f"x[np.where({mask})] += 1.0", f"{name}[:] = 0", f"{name} *= 2"))
    if kind == "copied":
        b.emit(
            f"{name} = "
            + b.pick(f"np.sort({name})", f"{name}[::-1]", f"list({name})", f"{name} + {name}", f"np.append({name}, 1)")
        )
    b.results += [
        f"len({name})",
        f"sum({name})",
        b.pick(name, f"np.sum({name})", f"[e for e in {name}]", f"np.cumsum({name})", f"3 in {name}"),
    ]
