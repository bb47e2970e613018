"""Programs that run the standard library's own Python code: parsers, printers, arithmetic and containers."""

# ruff: noqa
# fmt: off
import _pydecimal
import argparse
import ast
import bisect
import calendar
import collections
import configparser
import copy
import csv
import dataclasses
import difflib
import fnmatch
import fractions
import functools
import graphlib
import heapq
import html.parser
import importlib
import inspect
import io
import json
import json.encoder
import pprint
import random
import shlex
import statistics
import string
import sys
import textwrap
import tokenize
import types
import typing
import urllib.parse

from . import attempt, program

PROSE = "The quick brown fox, which was very quick,\n\njumped over   the lazy dog.\tThen it slept for a long-winded while."
SOURCE = inspect.getsource(textwrap.TextWrapper)


def without_c(name, *accelerators):
    """A module's Python code, without the part that is written in C."""
    saved = {key: sys.modules.pop(key, None) for key in (name, *accelerators)}
    sys.modules.update(dict.fromkeys(accelerators))
    try:
        return importlib.import_module(name)
    finally:
        for key, module in saved.items():
            sys.modules.pop(key, None)
            if module is not None:
                sys.modules[key] = module


py_heapq, py_bisect = without_c("heapq", "_heapq"), without_c("bisect", "_bisect")
py_collections, py_functools = without_c("collections", "_collections"), without_c("functools", "_functools")


@program([1, 2.5, "té\n", None, True, {"a": [], "b": {}}, (3,), -1e100, float("inf")])
@program({"k": {"l": [1, [2, [3]]]}, "m": "x" * 50, 5: 6, None: 7})
def json_both_ways(value):
    encoder = json.encoder.JSONEncoder(indent=2, sort_keys=False)
    made = json.encoder._make_iterencode(
        {}, encoder.default, json.encoder.py_encode_basestring, "  ", float.__repr__, ": ", ", ", False, False, False
    )
    text = "".join(made(value, 0))
    ascii_text = json.encoder.py_encode_basestring_ascii(str(value))
    scanner = json.scanner.py_make_scanner(json.JSONDecoder())
    return text, ascii_text, attempt(lambda: scanner.scan_once(text, 0) if hasattr(scanner, "scan_once") else scanner(json.dumps(list(map(str, value))), 0))


@program()
def text_wrapped():
    return (
        textwrap.wrap(PROSE, 20), textwrap.fill(PROSE, 30, initial_indent="* ", subsequent_indent="  "), textwrap.shorten(PROSE, 40),
        textwrap.dedent("  a\n    b\n  c"), textwrap.indent("a\n\nb", "> "), textwrap.wrap("a" * 30, 7, break_long_words=True), attempt(textwrap.wrap, "x", 0),
    )


@program("one\ntwo\nthree\nfour\n", "zero\none\ntree\nfour\nfive\n")
@program("abcdefgh" * 3, "bcdxefgh" * 3)
def differences(a, b):
    matcher = difflib.SequenceMatcher(None, a, b)
    lines = a.splitlines(True), b.splitlines(True)
    return (
        matcher.ratio(), [tuple(m) for m in matcher.get_matching_blocks()], matcher.get_opcodes(), list(difflib.unified_diff(*lines, "a", "b")), list(difflib.context_diff(*lines)),
        list(difflib.ndiff(*lines)), difflib.get_close_matches("appel", ["ape", "apple", "peach"]), list(difflib.restore(difflib.ndiff(*lines), 1)),
    )


@program()
def heaps():
    heap, items = [], [5, 3, 8, 1, 9, 2, 7]
    for item in items:
        py_heapq.heappush(heap, item)
    other = items[:]
    py_heapq.heapify(other)
    popped = [py_heapq.heappop(heap) for _ in range(4)]
    return popped, heap, other, py_heapq.nlargest(3, items), py_heapq.nsmallest(2, items, key=lambda v: -v), list(py_heapq.merge([1, 4], [2, 3], reverse=False)), attempt(py_heapq.heappop, [])


@program()
def bisections():
    items = [1, 2, 2, 3, 8]
    py_bisect.insort(items, 4)
    return py_bisect.bisect_left(items, 2), py_bisect.bisect_right(items, 2), items, py_bisect.bisect(items, 3, key=lambda v: v + 1), attempt(py_bisect.bisect, items, 1, -1)


@program([1.5, 2.5, 2.5, 2.75, 3.25, 4.75])
@program([1, 2, 3, 4])
@program([])
def statistics_of(data):
    functions = (statistics.mean, statistics.median, statistics.variance, statistics.stdev, statistics.pvariance, statistics.mode, statistics.harmonic_mean, statistics.multimode, statistics.fmean)
    results = [attempt(f, data) for f in functions]
    return results, attempt(statistics.quantiles, data, n=4), attempt(statistics.linear_regression, data, [v * 2 for v in data]), statistics.NormalDist(1, 2).cdf(1.5)


@program()
def fractions_and_decimals():
    F, D = fractions.Fraction, _pydecimal.Decimal
    a, b = F(3, 4), F("1.25")
    with _pydecimal.localcontext() as context:
        context.prec = 30
        root = D(2).sqrt()
    return (
        str(a + b), str(a / b), str(a**2), a < b, str(F(0.1).limit_denominator(100)), hash(a), float(a), str(round(F(7, 3), 1)), attempt(F, 1, 0), attempt(F, "x"), str(divmod(b, a)),
        str(D("1.10") + D("2.205")), str(root), str(D(1) / D(7)), str(D("1e3").quantize(D("0.01"))), str(D("-3.7") // 1), f"{D('1234.5'):,.2f}", str(D("NaN")), attempt(lambda: D(1) / 0)[0][0],
        str(D(3).ln())[:12], str(D("0.5").exp())[:12], str(D(10) ** D("0.5"))[:12], D("1.0") == D(1), sorted([D(3), D(1)])[0] == 1,
    )


@program()
def syntax_trees():
    tree = ast.parse(SOURCE)
    names = sorted({node.id for node in ast.walk(tree) if isinstance(node, ast.Name)})

    class Rename(ast.NodeTransformer):
        def visit_Name(self, node):
            return ast.copy_location(ast.Name(node.id.upper(), node.ctx), node)

    small = ast.parse("x = [y for y in f(a, *b, k=1) if not y]\nasync def g(): await h\n@d\nclass C(B): pass\nlambda a, /, *b: a + b\nprint(f'{x!r:>{w}}')")
    return ast.unparse(tree), names, ast.unparse(Rename().visit(small)), ast.dump(small.body[0]), attempt(ast.literal_eval, "{'a': [1, -2.5, (3,)]}"), attempt(ast.literal_eval, "f()")[0][0]


@program(["-v", "--count", "3", "run", "a.txt", "b.txt", "--mode=fast"])
@program(["run"])
@program(["--count", "x", "run", "f"])
@program(["stop"])
def arguments(argv):
    parser = argparse.ArgumentParser(prog="p", description="what it does", exit_on_error=False)
    parser.add_argument("-v", "--verbose", action="count", default=0)
    parser.add_argument("--count", type=int, default=1, help="how many")
    commands = parser.add_subparsers(dest="command")
    run = commands.add_parser("run")
    run.add_argument("files", nargs="*")
    run.add_argument("--mode", choices=["fast", "slow"])
    return attempt(lambda: vars(parser.parse_args(argv))) if argv != ["stop"] else parser.format_help()


@program()
def tokens():
    found = tokenize.generate_tokens(io.StringIO(SOURCE).readline)
    return attempt(lambda: [(t.type, t.string, t.start) for t in found])


@program()
def templates():
    t = string.Template("$who likes ${what}; $$5")
    f = string.Formatter()
    return t.substitute(who="a", what="b"), t.safe_substitute(who="c"), attempt(t.substitute, who="x"), f.format("{0!r:>5}{k[0]:{w}}{1.real}", "a", 2, k=[3], w=4), attempt(f.format, "{x}"), string.capwords("a b")


@program(r"(?P<n>a+|b*?)[^x-z\d](?:\1|$)(?i:K){2,3}(?=q)(?<!w)")
@program("(unclosed")
def regular_expressions(pattern):
    try:
        from re import _compiler as compiler, _parser as parser
    except ImportError:
        import sre_compile as compiler
        import sre_parse as parser
    return attempt(lambda: str(parser.parse(pattern).data)), attempt(lambda: str(compiler._code(parser.parse(pattern), 0)))


@program()
def containers():
    d = py_collections.OrderedDict([("a", 1), ("b", 2)])
    d["c"] = 3
    d.move_to_end("a")
    popped = d.popitem(last=False)
    c = py_collections.Counter("abracadabra")
    c.update("aaz")
    chained = py_collections.ChainMap({"x": 1}, {"x": 2, "y": 3})
    return list(d.items()), popped, d == py_collections.OrderedDict(a=1), c.most_common(2), sorted((c - py_collections.Counter("ab")).elements())[:4], dict(chained), chained.new_child({"z": 1})["z"], list(reversed(d)), attempt(d.pop, "q")


@program()
def functions_of_functools():
    @py_functools.lru_cache(maxsize=2)
    def square(n):
        calls.append(n)
        return n * n

    @py_functools.total_ordering
    class Size:
        def __init__(self, n):
            self.n = n

        def __eq__(self, other):
            return self.n == other.n

        def __lt__(self, other):
            return self.n < other.n

    @functools.singledispatch
    def kind(value):
        return "other"

    kind.register(int)(lambda value: "int")
    calls = []
    squares = [square(n) for n in (1, 2, 1, 3, 2)]
    key = py_functools.cmp_to_key(lambda a, b: b - a)
    return squares, calls, tuple(square.cache_info()), Size(1) <= Size(2), Size(3) > Size(2), kind(1), kind("x"), sorted([1, 3, 2], key=key), py_functools.partial(max, 3)(5), py_functools.reduce(lambda a, b: a + b, [1, 2], 10)


@program("a 'b c' \"d \\\" e\" f\\ g # h")
@program("'unclosed")
def shell_words(text):
    return attempt(shlex.split, text), attempt(shlex.split, text, comments=True), shlex.quote("it's"), shlex.join(["a b", "c"])


class Sequence(random.Random):
    def random(self):
        self.state = (getattr(self, "state", 7) * 1103515245 + 12345) % 2**31
        return self.state / 2**31


@program()
def random_numbers():
    r = Sequence()
    items = list(range(10))
    r.shuffle(items)
    return items, r.choice("abc"), r.sample(range(100), 5), r.gauss(0, 1), r.choices([1, 2, 3], [1, 5, 1], k=4), r.uniform(1, 2), r.triangular(), r.betavariate(1, 2), r.expovariate(2), r.randint(1, 6), attempt(r.choice, [])


@dataclasses.dataclass
class Tree:
    value: int
    children: list = dataclasses.field(default_factory=list)

    def __deepcopy__(self, memo):
        return Tree(self.value + 1, copy.deepcopy(self.children, memo))


@program()
def copies():
    shared = [1]
    loop = {"a": shared, "b": shared, "t": (shared, {2})}
    loop["self"] = loop
    made = copy.deepcopy(loop)
    tree = copy.deepcopy(Tree(1, [Tree(2), Tree(3, [Tree(4)])]))
    return made["a"] is made["b"], made["self"] is made, made["a"] is not shared, made["t"], repr(tree), copy.copy([shared])[0] is shared


@program()
def calendars():
    text = calendar.TextCalendar(0)
    return text.formatmonth(2024, 2), text.formatyear(2023, m=4)[:600], calendar.monthrange(2023, 2), calendar.isleap(1900), calendar.HTMLCalendar().formatmonth(2024, 5), attempt(calendar.monthrange, 2024, 13)[0][0]


@program("<p class='a' id=b>Hi &amp; <br/> &#62; <!-- c --> </p><![CDATA[x]]><unclosed")
def hypertext(text):
    class Reader(html.parser.HTMLParser):
        def __init__(self):
            super().__init__(convert_charrefs=False)
            self.log = []

        def handle_starttag(self, tag, attributes):
            self.log.append((tag, attributes))

        def handle_endtag(self, tag):
            self.log.append("/" + tag)

        def handle_data(self, data):
            self.log.append(data)

        def handle_entityref(self, name):
            self.log.append("&" + name)

        def handle_comment(self, data):
            self.log.append("#" + data)

    reader = Reader()
    reader.feed(text)
    reader.close()
    return reader.log


@program()
def configurations():
    parser = configparser.ConfigParser()
    parser.read_string("[DEFAULT]\nbase = /x\n[a]\npath = %(base)s/y\nn = 5\nflag = yes\nlong = one\n  two\n[b]\n")
    out = io.StringIO()
    parser["b"]["k"] = "v"
    parser.write(out)
    bad = configparser.ConfigParser()
    return parser.sections(), dict(parser["a"]), parser.getint("a", "n"), parser.getboolean("a", "flag"), out.getvalue(), attempt(parser.get, "a", "none"), attempt(bad.read_string, "x = 1")[0][0], parser.get("a", "q", fallback="f")


@program("a;b;c\n1;2;3\n4;5;6\n")
@program("'x','y'\n'1','2'\n")
def delimiters(text):
    dialect = csv.Sniffer().sniff(text)
    rows = csv.DictReader(io.StringIO(text), dialect=dialect)
    return dialect.delimiter, dialect.quotechar, [dict(row) for row in rows], csv.Sniffer().has_header(text)


@program()
def annotations():
    T = typing.TypeVar("T")

    class Base(typing.Generic[T]):
        x: typing.Optional[int]
        y: "typing.List[Base[int]]"

    class P(typing.Protocol):
        def f(self) -> int: ...

    def g(a: "int", b: typing.Union[str, None] = None) -> typing.Dict[str, T]: ...

    hints = typing.get_type_hints(g)
    return str(hints["a"]), str(hints["b"]), str(typing.Dict[str, T][int]), str(Base[int]), typing.get_args(typing.Callable[[int], str]), str(typing.get_origin(Base[str]).__name__), str(inspect.signature(g)), T.__module__, Base.__parameters__ == (T,)


@program()
def signatures():
    def f(a, /, b: int = 2, *c, d, e="x", **g) -> None: ...

    signature = inspect.signature(f)
    bound = signature.bind(1, 3, 4, d=5, z=6)
    bound.apply_defaults()
    return str(signature), bound.arguments, [p.kind.name for p in signature.parameters.values()], attempt(signature.bind, 1), str(inspect.getfullargspec(f).kwonlyargs), inspect.cleandoc(" a\n   b")


@program()
def printing():
    value = {"key": [list(range(30)), {"nested": ("x" * 30, "y" * 40, "z" * 20)}], "other": {1, 2}, "text": "long words " * 15}
    return pprint.pformat(value, width=50), pprint.pformat(value, compact=True, depth=2), pprint.saferepr([value])


@program()
def graphs():
    sorter = graphlib.TopologicalSorter({"d": {"b", "c"}, "b": {"a"}, "c": {"a"}})
    ring = graphlib.TopologicalSorter({"a": "b", "b": "a"})
    order = list(sorter.static_order())
    return order[0], order[-1], attempt(lambda: list(ring.static_order()))[0][0], fnmatch.filter(["a.py", "b.txt"], "*.py"), fnmatch.translate("a[!b]?*")


@program("https://user:pw@host:80/p/a;b?q=1&r=a%20b&r=2#frag")
def addresses(url):
    parts = urllib.parse.urlsplit(url)
    return tuple(parts), parts.hostname, parts.port, urllib.parse.parse_qs(parts.query), urllib.parse.urljoin(url, "../c?d"), urllib.parse.quote("a b/ü"), urllib.parse.unquote("a%20%C3%BC"), urllib.parse.urlencode({"a": [1, 2], "b": "c d"}, doseq=True)


@program()
def name_spaces():
    space = types.SimpleNamespace(a=1, b=[2])
    proxy = types.MappingProxyType({"k": 1})
    made = types.new_class("Made", (dict,), {}, lambda ns: ns.update(x=5))
    module = types.ModuleType("m", "doc")
    exec("def f(): return g() + 1\ndef g(): return 4\nvalue = f()", vars(module))
    return repr(space), dict(proxy), made.x, issubclass(made, dict), module.value, module.f(), module.__doc__, bisect.bisect([1, 2], 1), heapq.nsmallest(1, [3, 1]), collections.deque([1, 2], 1)[0]
