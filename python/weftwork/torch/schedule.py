"""Divides a torch graph into programs and, between them, operations that torch runs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import torch
from torch.fx import GraphModule, Node

from .bridge import dense_order, may_overlap
from .extents import Extents, expression_of
from .kinds import CALL, GETITEM, NATIVE, SCALAR, SOURCE, SPLITS, STORE, VIEWS, is_random, kind_of, reason_against
from .marks import Region, region_of

__all__ = ["Piece", "Schedule"]


def is_whole(fake: Any) -> bool:
    """Whether its memory is that of its elements alone, each once: then a program's result can have the same layout."""
    return fake.storage_offset() == 0 and (fake.is_contiguous() or dense_order(fake) is not None)


def same_count(a: Any, b: Any) -> bool:
    """Whether two fake tensors surely have as many elements."""
    counts = [tensor.numel() for tensor in (a, b)]
    if all(isinstance(count, int) for count in counts):
        return counts[0] == counts[1]
    return expression_of(counts[0]) == expression_of(counts[1])


@dataclass
class Piece:
    """What one program does: its nodes, which of them others need, what comes from outside, what it writes in place."""

    nodes: list[Node] = field(default_factory=list)
    inputs: dict[Node, None] = field(default_factory=dict)
    outputs: dict[Node, None] = field(default_factory=dict)
    stored: list[tuple[Node, Node]] = field(default_factory=list)


class Schedule:
    """Pieces by number; a call of torch that has number n runs after piece n, and before piece n + 1.

    One pass over the graph: each node is as early as what it needs.
    """

    def __init__(self, module: GraphModule, refused: dict[Node, str], shares: bool = True) -> None:
        self.shares = shares  # whether views are shown in torch, over the memory of what they are of
        self.nodes = list(module.graph.nodes)
        self.refused = dict(refused)
        self.extents = Extents([node.meta.get("val") for node in self.nodes if node.op == "placeholder"])
        self.kinds: dict[Node, str] = {}
        self.when: dict[Node, int] = {}
        self.roots: dict[Node, Node] = {}
        self.latest: dict[Region, int] = {}
        self.regions: dict[int, Region] = {}  # of pieces that are a region's alone
        self.pieces: dict[int, Piece] = {}
        self.calls: dict[int, list[Node]] = {}
        self.stores = [node for node in self.nodes if self._classify(node) == STORE]
        self.written = {node.args[0] for node in self.stores}
        self._find_roots()
        self._place()
        self.results = self.nodes[-1].args[0]
        self._collect()

    # -- what is done with each node -------------------------------------------------------------------------------

    def _classify(self, node: Node) -> str:
        if node.op == "output":
            return "output"
        kind = kind_of(node, self.kinds)
        if kind == NATIVE:
            region = region_of(node)
            marked = "marked to run in torch" if region is not None and region.place == "torch" else None
            reason = self.refused.get(node) or marked or reason_against(node, self.extents)
            if reason is not None:
                self.refused[node], kind = reason, CALL
        elif kind == CALL:
            self.refused.setdefault(node, "not in the table")
        self.kinds[node] = kind
        return kind

    def owner(self, node: Node) -> Node:
        """The call behind the elements of a tuple."""
        while self.kinds.get(node) == GETITEM:
            node = node.args[0]  # type: ignore[assignment]
        return node

    def is_native(self, node: Node) -> bool:
        return self.kinds.get(self.owner(node)) == NATIVE

    def is_view(self, node: Node) -> bool:
        """Whether it is but another view of what was there, which each piece records for itself."""
        owner = self.owner(node)
        return (
            self.shares
            and self.kinds.get(owner) == NATIVE
            and owner.target in (SPLITS if owner is not node else VIEWS | SPLITS)
        )

    def _find_roots(self) -> None:
        """What has the memory that each view shows."""
        for node in self.nodes:
            root = node
            if self.is_view(node) and isinstance(node.args[0], Node):
                root = self.roots[self.owner(node).args[0] if self.kinds[node] == GETITEM else node.args[0]]  # type: ignore[index]
                if self.is_native(root) and not is_whole(root.meta["val"]):
                    root = node
            self.roots[node] = root

    # -- when ------------------------------------------------------------------------------------------------------

    def _place(self) -> None:
        """The number of each node, from those of its operands."""
        latest = -1  # the number of the last call that must keep its turn
        most = 0
        for node in self.nodes:
            kind = self.kinds.get(node)
            if kind in (None, SOURCE, STORE):
                continue
            # Numbers of values that a call gave wait for it.
            operands = [n for n in node.all_input_nodes if n in self.when]
            if kind == SCALAR:
                if operands:
                    self.when[node] = max(self.when[n] for n in operands)
            elif kind == GETITEM:
                self.when[node] = self.when[self.owner(node)]
            elif kind == NATIVE:
                self.when[node] = self._piece_of(node, operands, most)
                most = max(most, self.when[node])
            else:
                number = max([self.when[n] for n in operands], default=-1)
                if is_random(node) or not node.users:
                    number = latest = max(number, latest)
                self.when[node] = number
                self.calls.setdefault(number, []).append(node)

    def _piece_of(self, node: Node, operands: list[Node], most: int) -> int:
        """The number of the piece that a node is in; ``most`` is the greatest so far."""
        if self.is_view(node):
            return max([self._ready(n) for n in operands], default=0)
        region = region_of(node)
        if region is None and node.meta.get("is_gradient_acc") and operands:
            # A sum of gradients, which torch leaves unmarked, goes with the last of them.
            region = self.regions.get(max(self.when[n] for n in operands))
        if region is None or region.number < 0 or not self.shares:
            number = max([self._ready(n) + (self.when[n] in self.regions) for n in operands], default=0)
            while number in self.regions:
                number += 1
            return number
        here = self.latest.get(region, -1)
        if here < 0 or any(self._ready(n) > here for n in operands):
            # Other pieces with as great a number may have what this one needs.
            here = max([self._ready(n) for n in operands] + [most]) + 1
            self.latest[region], self.regions[here] = here, region
        return here

    def _ready(self, node: Node) -> int:
        """The first piece that can use a node."""
        return self.when[node] + (self.kinds[self.owner(node)] in (CALL, SCALAR))

    # -- what goes from one to another -----------------------------------------------------------------------------

    def _collect(self) -> None:
        """Nodes, inputs and outputs of each piece; a view is recorded by each piece that uses it."""
        uses: dict[Node, set[int]] = {}
        needed: dict[Node, None] = {}
        outside = self.tensors_outside()
        self._take_lone_views(outside)
        for node in outside:
            needed[self.roots[node]] = None
        for node in needed:
            if self.is_native(node):
                uses.setdefault(self.owner(node), set()).add(self.when[node])
        last = self.last()
        for store in self.stores:
            if self.may_write_in_place(store, last):
                self._use(uses, store.args[1], last)
        for node in reversed(self.nodes):
            if self.kinds.get(node) != NATIVE:
                continue
            numbers = uses.get(node, set())
            if not self.is_view(node):
                numbers = {self.when[node]} if numbers else set()
                uses[node] = numbers
            for number in numbers:
                for operand in node.all_input_nodes:
                    self._use(uses, operand, number)
        for node in self.nodes:
            for number in sorted(uses.get(self.owner(node), ())) if self.is_native(node) else ():
                self.pieces.setdefault(number, Piece()).nodes.append(node)
        self._join(uses, needed, last)

    def last(self) -> int:
        """The number of the last program."""
        return max((self.when[n] for n, kind in self.kinds.items() if kind == NATIVE), default=-1)

    def _take_lone_views(self, outside: list[Node]) -> None:
        """A view of all of a value of which torch sees nothing else is a result of the program itself."""
        shown: dict[Node, set[Node]] = {}
        for node in outside:
            shown.setdefault(self.roots[node], set()).add(node)
        for root, nodes in shown.items():
            node = next(iter(nodes))
            fake, whole = node.meta.get("val"), root.meta.get("val")
            if (
                len(nodes) == 1
                and node is not root
                and self.is_native(root)
                and is_whole(fake)
                and same_count(fake, whole)
            ):
                self.roots[node] = node

    def _use(self, uses: dict[Node, set[int]], node: Any, number: int) -> None:
        """Piece ``number`` reads a node: a view is recorded again, anything else where it is made."""
        owner = self.owner(node)
        if self.kinds.get(owner) == NATIVE:
            uses.setdefault(owner, set()).add(number if self.is_view(owner) else self.when[owner])

    def _join(self, uses: dict[Node, set[int]], needed: dict[Node, None], last: int) -> None:
        for piece in self.pieces.values():
            inside = set(piece.nodes)
            for node in piece.nodes:
                for operand in node.all_input_nodes:
                    self._read(piece, inside, operand)
        for store in self.stores:
            if self.may_write_in_place(store, last):
                piece = self.pieces.setdefault(last, Piece())
                target, source = store.args[:2]
                self._read(piece, set(piece.nodes), source)
                piece.inputs[target] = None  # type: ignore[index]
                piece.stored.append((target, source))  # type: ignore[arg-type]
        for node in [*needed, *(n for piece in self.pieces.values() for n in piece.inputs)]:
            if self.is_native(node):
                self.pieces[self.when[node]].outputs[node] = None

    def _read(self, piece: Piece, inside: set[Node], operand: Any) -> None:
        value = operand.meta.get("val")
        is_number = isinstance(value, torch.SymFloat) or (self.shares and self.extents.is_number(value))
        if operand not in inside and (is_number or isinstance(value, torch.Tensor)):
            piece.inputs[operand] = None

    def tensors_outside(self) -> list[Node]:
        """Nodes that torch reads: operands of its calls, results, and what is copied at the end."""
        found = [n for nodes in self.calls.values() for node in nodes for n in node.all_input_nodes]
        found += [n for n in self.results if isinstance(n, Node)]
        last = self.last()
        found += [store.args[1] for store in self.stores if not self.may_write_in_place(store, last)]  # type: ignore[misc]
        return [n for n in found if self.kinds.get(n) != SCALAR]

    def may_write_in_place(self, store: Node, last: int) -> bool:
        """Whether the last program may write the new value of an argument to its memory: nobody reads the old one later."""
        target, source = store.args[:2]
        fake: Any = target.meta["val"]  # type: ignore[union-attr]
        if fake.is_conj() or fake.is_neg():  # then what the memory has is not what the argument is
            return False
        if may_overlap(fake):  # torch writes one element after the other, of which the last stays
            return False
        if not self.is_native(source) or self.when.get(source, -1) != last or any(n >= last for n in self.calls):  # type: ignore[arg-type]
            return False
        is_shown = any(isinstance(n, Node) and n is not target and self.roots[n] is target for n in self.results)
        return not is_shown and sum(other.args[0] is target for other in self.stores) == 1
