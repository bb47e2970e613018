"""Fragments with arrays of other element types and layouts: empty, of no dimensions, strided, read-only, shared by two arguments."""

from __future__ import annotations

from .builder import Builder, Parameter
from .registry import fragment

#: What an argument may be, as texts in families: the calls of one program draw from one family, or from two.
GIVEN = (
    ("np.array([3, -1, 2, 7])", "np.arange(4)", "np.arange(6)[::2]", "np.array([5, 5, 0])"),
    ("np.array([250, 3, 7], np.uint8)", "np.array([1, 2, 3, 255], np.uint8)", "np.zeros(3, np.uint8)"),
    ("np.array([3, -100, 127], np.int8)", "np.array([-128, 1, 2, 3], np.int8)"),
    ("np.array([True, False, True])", "np.array([[True, False], [False, False]])", "np.ones(4, bool)"),
    ("np.array([1.5, -2.0, 0.25], np.float32)", "np.ones((2, 3), np.float32)", "np.float32([4.0, 9.0])"),
    ("np.array([1.0, np.nan, -np.inf, 0.0])", "np.array([np.inf, -0.0, 3.0])", "np.full(3, np.nan)"),
    ("np.array([1 + 2j, -1j, 0.5])", "np.ones((2, 2), complex)", "np.arange(3) * 1j"),
    ("np.arange(12).reshape(3, 4)", "np.arange(6).reshape(2, 3) % 4", "np.arange(9).reshape(3, 3)[::-1]"),
    ("np.asfortranarray(np.arange(6.0).reshape(2, 3))", "np.arange(6.0).reshape(3, 2).T", "np.eye(3)", "np.eye(2, 3)[:, ::-1]"),
    ("np.arange(24.0).reshape(2, 3, 4)", "np.arange(8.0).reshape(2, 2, 2).swapaxes(0, 2)", "np.ones((1, 3, 1))"),
    ("np.arange(5.0)[::-1]", "np.arange(12.0)[1::3]", "np.linspace(0.0, 1.0, 4)"),
    ("np.empty(0)", "np.zeros((0, 3))", "np.zeros((2, 0), int)", "np.array([1.0])", "np.array([], bool)"),
    ("np.array(2.5)", "np.array(7)", "np.array(True)", "np.float64(0.5)", "np.int32(3)", "np.array([[4.0]])"),
    ("np.broadcast_to(np.arange(3.0), (2, 3))", "np.arange(6.0).reshape(2, 3)", "np.broadcast_to(2.0, (3,))"),
    ("x1", "x1[1:]", "x1[::-1]", "x1.copy()", "x1[:2]", "x1.reshape(-1, 1)"),
    ("np.array([2**63, 1, 2**64 - 1], np.uint64)", "np.array([2**62, -2**63, 3])", "np.array([2**31 - 1, -5, 0], np.int32)"),
    ("np.array([1.0, 2.5, 1e4], np.float16)", "np.array([1e30, -0.5, 3], np.float32)", "np.array([1 + 1j, 2], np.complex64)"),
    ("np.array([1.0, 2.0, 3.0], '>f8')", "np.array([1, 2, 3], '>i4')", "np.array([1.5, 2.5], np.longdouble)"),
    ("np.array([1, 'a', None], object)", "np.array([1.5, 2, 3], object)", "np.array(['ab', 'c', ''])", "np.array([b'x', b'yz'])"),
    ("np.array(['2020-01-01', 'NaT', '2021-06-05'], 'M8[D]')", "np.array([3, -1, 2], 'm8[s]')", "np.arange(3).astype('m8[D]')"),
    ("np.array([(1, 2.0), (3, 4.0)], [('a', 'i4'), ('b', 'f8')])", "np.zeros(2, 'i4,f8')", "np.rec.array([(1, 2.0)], [('a', 'i4'), ('b', 'f8')])"),
    ("np.matrix([[1.0, 2.0], [3.0, 4.0]])", "np.matrix([[1, 2, 3]])"),
    ("m1", "m1.T", "m1[0]", "m1[:, 1:]", "m1.ravel()", "m1[::-1]"),
)  # fmt: skip

WRITES = (
    "{a}[...] = {v}", "{a} += 1", "{a} -= {a}[::-1]", "{a} *= 2", "{a} //= 2", "{a} %= 3", "{a} **= 2", "{a} &= 1", "{a} /= 2", "{a} |= {a} > 1",
    "{a}[{a} > 1] = 0", "{a}[{a} > 0] += {v}", "{a}[[0, -1]] = {v}", "{a}[[0, 0]] += 1", "np.add.at({a}, [0, 0], 1)", "{a}[0], {a}[-1] = {a}[-1], {a}[0]",
    "np.put({a}, [0, 1], [7, 8])", "np.place({a}, {a} > 1, [9, 8])", "np.putmask({a}, {a} > 1, 3)", "np.copyto({a}, 1, where={a} > 2)", "np.fill_diagonal({a}, 1)",
    "{a}.sort()", "{a}.partition(1)", "{a}[::-1].sort()", "{a}.sort(axis=0)", "np.clip({a}, 0, 2, out={a})", "np.negative({a}, out={a})", "{a}.fill({v})",
    "np.multiply({a}, 2, out={a}, where={a} > 1)", "np.cumsum({a}, axis=-1, out={a})", "{a}.T[0] = {v}", "{a}.flat[1] = 4", "{a}.flat = 3", "{a}.ravel()[0] = 5",
    "{a}.real = 1", "{a}.imag[...] = 2", "np.nan_to_num({a}, copy=False)", "np.swapaxes({a}, 0, -1)[0] = 2", "{a}[..., None][0] = 3", "{a}.reshape(-1)[-1:] = {v}",
    "np.split({a}, [1])[1][...] = 0", "{a}[1:] = {a}[:-1]", "{a}[:-1] += {a}[1:]", "{a}[1:, ...] -= {a}[:1]", "np.moveaxis({a}, 0, -1)[..., 0] += 1", "{a}[np.ix_([0, 1], [1, 0])] = 4",
    "{a}[{a}.argmax()] = 0", "{a}[{i}] = {v}", "{a}[{i}:] *= 2", "{a}[{i}, ...] += {v}", "{a}[-{i}:] = 1", "{a}[x[:len({a})] > 0] = {v}", "{a}[:] = x[: len({a})]", "x[:2] = {a}[:2]",
    "np.add({a}, 1, out=x[: len({a})], casting='unsafe')", "np.maximum.accumulate({a}, out={a})", "{a}.view()[0] = {v}", "np.diagonal({a})[0] = 1", "{a}.squeeze()[0] = {v}",
    "np.random.shuffle({a})", "np.divmod({a}, 2, out=({a}, {a}.copy()))", "{a}.put([0], {v})", "{a}[True] = {v}", "{a}[()] += 1", "{a}[None, 0] = {v}", "{a}[~({a} > 0)] *= -1",
    "np.take({a}, [0, 0], out={a}[:2], mode='clip')", "np.sort({a})[0] = 1", "{a}[{a}.nonzero()] = 1", "np.negative({a}, out={a})", "np.ravel({a})[{i}] = {v}", "{a}[{i} % 2 :: 2] = {v}",
)  # fmt: skip

MADE = (
    "{a}[1:]", "{a}.T", "{a}[::-1]", "{a}.ravel()", "{a}.reshape(-1)", "{a}.copy()", "{a}.astype(float)", "{a}.astype(np.int16)", "{a}.astype(bool)", "{a} + 1", "{a} / 2", "{a} // 2", "{a} % 3",
    "{a} ** 2", "-{a}", "~{a}", "{a} == {a}", "{a} > 1", "np.sqrt({a})", "np.sign({a})", "abs({a})", "{a} * x[0]", "{a} + 0.5", "{a} << 1", "{a} - {a}[0]", "{a} * {i}", "{i} - {a}", "{a} ** {i}", "2 ** {a}",
    "{a}[0]", "{a}[-1]", "{a}[...]", "{a}[()]", "{a}[None]", "{a}[[]]", "{a}[True]", "{a}[{a} > 1]", "{a}.take([0, -1])", "{a}[[1, 0]]", "{a}[{i}]", "{a}[{i}:]", "{a}[:{i}]", "{a}[..., 0]",
    "np.diff({a})", "np.sort({a})", "np.argsort({a}, kind='stable')", "{a}.squeeze()", "np.atleast_2d({a})", "np.tile({a}, 2)", "{a}.repeat(2)", "np.roll({a}, 1)", "np.flip({a})", "np.pad({a}, 1)",
    "np.asarray({a})", "np.asarray({a}, float)", "np.ascontiguousarray({a})", "np.array({a}, copy=None)", "np.real({a})", "{a}.conj()", "{a}.imag", "np.where({a} > 1, {a}, 0)", "np.select([{a} > 1], [{a}], 2)",
    "np.cumsum({a})", "{a}.cumsum(axis=0)", "np.outer({a}, {a})", "{a} @ {a}.T", "np.dot({a}, {a})", "np.concatenate([{a}, {a}])", "np.stack([{a}, {a}])", "np.broadcast_to({a}, (2, *{a}.shape))", "np.zeros_like({a})",
    "np.full_like({a}, {v})", "np.minimum({a}, 2)", "np.clip({a}, 0, {v})", "{a}.view({a}.dtype)", "np.expand_dims({a}, 0)", "np.nan_to_num({a})", "np.isnan({a})", "np.unique({a})", "np.diag({a})",
    "np.triu({a})", "np.round({a})", "np.rint({a}).astype(int)", "np.float32({a})", "np.vectorize(lambda e: e + 1)({a})", "np.add.reduce({a})", "np.logical_not({a})", "{a}.max(axis=-1, keepdims=True)", "np.einsum('...i->...', {a})",
)  # fmt: skip

READS = (
    "{a}.sum()", "{a}.mean()", "{a}.std()", "{a}.prod(axis=0)", "np.median({a})", "{a}.argmax()", "{a}.min(initial=0)", "{a}.any()", "{a}.all(axis=0)", "{a}.tolist()", "{a}.dtype", "{a}.shape", "{a}.ndim", "{a}.nbytes",
    "{a}.item(0)", "list({a})", "len({a})", "max({a})", "sum({a})", "sorted({a})", "any({a})", "1 in {a}", "next(iter({a}))", "[*zip({a}, x)]", "{a} is x", "np.shares_memory({a}, x)", "float({a})", "int({a})", "bool({a})",
    "np.array_equal({a}, x)", "np.result_type({a}, 1.0)", "np.count_nonzero({a})", "np.where({a})", "np.linalg.norm({a})", "np.histogram({a}, 3)[0]", "np.bincount({a})", "{a}.tobytes()", "str({a})", "f'{{{a}}}'", "[*np.ndenumerate({a})]",
    "np.apply_along_axis(np.sum, 0, {a})", "np.percentile({a}, 30)", "np.ptp({a})", "np.allclose({a}, x)", "np.isscalar({a}[0])", "type({a}[0]).__name__", "np.average({a}, axis=0)", "np.trace({a})", "divmod({a}, 2)", "np.frexp({a})", "np.modf({a})",
    "{a}.flags.writeable", "{a}.size and {a}.flat[0]", "[e * 2 for e in {a}.flat]", "np.argwhere({a})", "np.searchsorted({a}, 1)", "np.interp(0.5, x, x)", "{a}.var(ddof=1)", "np.fft.fft({a}).real", "np.cov({a})", "{a}.nonzero()", "math.sqrt({a}[0])", "[*{a}]",
    "range({a}[0])", "[10, 20, 30][{a}[0]]", "'abc'[{a}[-1]]", "round({a}[0], 1)", "'%.3g' % {a}[0]", "{{{a}[0]: 1}}", "{a}[0] == {a}[-1] and 'same'", "hash(int({a}[0]))", "np.mod({a}[0], 2)", "{a}[0].dtype", "not {a}[0]", "{a}[0] < {a}[-1] < 9",
)  # fmt: skip


def operand(b: Builder) -> str:
    """An array of any kind: an argument, or one that was made of it."""
    if not any(p.name == "q" for p in b.parameters):
        texts = b.pick(*GIVEN) + (b.pick(*GIVEN) if b.chance(0.3) else ())
        given = []
        matrix = next(p for p in b.parameters if p.name == "m").given[0]
        for i, text in enumerate(b.random.sample(texts, min(len(texts), b.random.randint(1, 4)))):
            b.top(f"q{i} = {text.replace('m1', matrix)}")
            given.append(f"q{i}")
        b.parameters.append(Parameter("q", tuple(given), keyword_only=b.chance(0.2)))
        b.between += [f"{given[0]}[...] = 2", f"{given[-1]} = {given[-1]} * 1"]
    return b.pick("q", "q", *b.names.get("array", []))


def with_parts(b: Builder, text: str) -> str:
    return text.format(a=operand(b), v=b.pick("1", "0.5", "-3", "7", b.float()), i=b.pick("0", "1", "2", b.any("int")))


def guarded(b: Builder, *lines: str) -> None:
    """Lines that may not fit the array: what is raised is seen, and the program goes on."""
    b.emit("try:", *(f"    {line}" for line in lines), "except Exception as error:", "    print(type(error).__name__)")


@fragment
def write_kind(b: Builder) -> None:
    lines = [with_parts(b, b.pick(*WRITES)) for _ in range(b.random.randint(1, 2))]
    if b.chance(0.25):
        lines = [f"for i in range({b.pick('2', '3', '20')}):", *(f"    {line}" for line in lines)]
    guarded(b, *lines)
    b.results.append(operand(b))


@fragment
def make_kind(b: Builder) -> None:
    """An array of another one, perhaps a view, that what follows may write."""
    name, text = b.name("a"), with_parts(b, b.pick(*MADE))
    if b.chance(0.8):
        b.emit(f"{name} = q")
        guarded(b, f"{name} = {text}")
    else:
        b.emit(f"{name} = {text}")
    b.know("array", name)
    b.results.append(name)


@fragment
def written_view(b: Builder) -> None:
    """A view is made, and then it or what it belongs to is written."""
    make_kind(b)
    write_kind(b)


@fragment
def read_kind(b: Builder) -> None:
    name = b.name("r")
    b.emit(f"{name} = None")
    guarded(b, f"{name} = {with_parts(b, b.pick(*READS))}")
    b.results.append(name)


@fragment
def branch_on_kind(b: Builder) -> None:
    a = operand(b)
    condition = b.pick(
        f"{a}.ndim == 1", f"{a}.dtype.kind == 'f'", f"{a}.size > 3", f"np.any({a} > 1)", f"{a}.shape == x.shape",
        f"len({a}) and {a}[0]", f"isinstance({a}, np.ndarray)", f"np.iscomplexobj({a})", f"{a}.sum() > 2", f"{a} is None",
    )  # fmt: skip
    guarded(
        b, f"if {condition}:", f"    {with_parts(b, b.pick(*WRITES))}", "else:", f"    {with_parts(b, b.pick(*WRITES))}"
    )


@fragment
def rows_of_kind(b: Builder) -> None:
    a, name = operand(b), b.name("kept")
    b.emit(f"{name} = []")
    turn = b.pick("row += 1", "row[...] = i", "row = row * 2", f"{name}.append(row)", "pass", f"{a}[i] = 0")
    guarded(
        b,
        f"for i, row in enumerate({a}):",
        f"    {turn}",
        f"    {name}.append({b.pick('row', 'row * 1', 'i', 'row.sum()')})",
    )
    b.results.append(name)
