"""Makes a failing program small: statements are dropped and blocks opened while it fails in the same way."""

from __future__ import annotations

import ast
import copy
import time
from collections.abc import Callable, Iterator

from .builder import MARK

FIELDS = ("body", "orelse", "finalbody", "handlers", "cases")


def text_of(tree: ast.Module, calls: ast.Module) -> str:
    return f"{ast.unparse(tree)}\n\n{MARK}\n{ast.unparse(calls)}\n"


def split(source: str) -> tuple[ast.Module, ast.Module]:
    """The definitions and the calls."""
    mark = source.splitlines().index(MARK) + 1 if MARK in source.splitlines() else 0
    body = ast.parse(source).body
    return ast.Module([s for s in body if s.lineno <= mark], []), ast.Module([s for s in body if s.lineno > mark], [])


def lists_in(node: ast.AST) -> Iterator[tuple[ast.AST, str, list]]:
    """All lists of statements, outermost first."""
    for name in FIELDS:
        statements = getattr(node, name, None)
        if isinstance(statements, list):
            yield node, name, statements
    for child in ast.iter_child_nodes(node):
        yield from lists_in(child)


def drop(tree: ast.Module, number: int) -> bool:
    """Drops the statement with this number, counted from the end; whether there is one."""
    places = [
        (s, i)
        for _, name, s in lists_in(tree)
        for i in range(len(s))
        if not (name == "body" and len(s) == 1 and is_pass(s[0]))
    ]
    if number >= len(places):
        return False
    statements, i = places[len(places) - 1 - number]
    keep = isinstance(statements[i], ast.stmt) and len(statements) == 1
    statements[i : i + 1] = [ast.Pass()] if keep else []
    return True


def is_pass(node: ast.AST) -> bool:
    return isinstance(node, ast.Pass)


def open_block(tree: ast.Module, number: int) -> bool:
    """Puts the body of a block in its place; whether there is one with this number."""
    blocks = (ast.For, ast.While, ast.If, ast.With, ast.Try)
    places = [(s, i) for _, _, s in lists_in(tree) for i in range(len(s)) if isinstance(s[i], blocks)]
    if number >= len(places):
        return False
    statements, i = places[number]
    statements[i : i + 1] = statements[i].body
    return True


def shorten_value(tree: ast.Module, number: int) -> bool:
    """Puts one part of an expression in the place of the whole; whether there is one with this number."""
    places = []
    for node in ast.walk(tree):
        if (
            isinstance(node, (ast.Return, ast.Assign))
            and isinstance(node.value, (ast.Tuple, ast.List))
            and node.value.elts
        ):
            places += [(node, part) for part in node.value.elts]
        elif isinstance(node, (ast.Return, ast.Assign, ast.AugAssign)) and isinstance(node.value, ast.BinOp):
            places += [(node, node.value.left), (node, node.value.right)]
        elif isinstance(node, ast.Return) and isinstance(node.value, ast.Dict) and node.value.values:
            places += [(node, part) for part in node.value.values]
    if number >= len(places):
        return False
    node, part = places[number]
    node.value = part
    return True


def minimised(source: str, fails: Callable[[str], bool], seconds: float = 40) -> str:
    """The program as small as the edits make it in that time."""
    end = time.monotonic() + seconds
    best = split(source)
    if not fails(text_of(*best)):
        return source
    before = None
    while before != text_of(*best):
        before = text_of(*best)
        for part, edit in ((1, drop), (0, drop), (0, open_block), (0, shorten_value)):
            number = 0
            while time.monotonic() < end:
                trial = copy.deepcopy(best)
                if not edit(trial[part], number):
                    break
                try:
                    text = text_of(*trial)
                    ast.parse(text)
                    good = fails(text)
                except (SyntaxError, ValueError):
                    good = False
                if good:
                    best = trial
                else:
                    number += 1
    return text_of(*best)
