"""weft compile, inspect, opt: programs made, and looked into."""

from __future__ import annotations

import argparse
import json
import os
import time
from collections import Counter
from typing import Any

from .. import _core
from ..errors import ArgumentValueError
from ..graph import Graph, Io, Kernel, _ios, support_library
from ..knobs import target_name
from ..neuron import Neff
from .program import Program, as_text, extent_pairs, names_of, symbols_of
from .terminal import UsageError, bold, columns, count_of, milliseconds, progress, say, shape_text


def compile_program(arguments: argparse.Namespace) -> int:
    program = Program(arguments.program, arguments.function)
    name = "main" if program.path == "-" else os.path.splitext(program.name)[0]
    if arguments.emit is not None:
        return emit(program, arguments, (arguments.output or name).removesuffix(".o").removesuffix(".h"))
    if program.is_package:
        raise UsageError(f"'{program.path}' is compiled already")
    program.specialise(extent_pairs(arguments.extent))
    start = time.perf_counter()
    compiled = first_that_runs(program, arguments.target)
    output = arguments.output or name + (".neff" if isinstance(compiled, Neff) else ".weft")
    if isinstance(compiled, Neff):
        compiled.save(output)
        kind = compiled.family
    else:
        with progress(f"compiling {program.name}"):
            compiled.save(output, targets=arguments.target)
        kind = f"{', '.join(arguments.target) or compiled.target}, {count_of(len(compiled.kernels), 'kernel')}"
    took = milliseconds(time.perf_counter() - start)
    print(f"{bold(output)}: {count_of(os.path.getsize(output), 'byte')} for {kind}, compiled in {took}")
    return 0


def emit(program: Program, arguments: argparse.Namespace, stem: str) -> int:
    """An object file and a C header, or one of them; the C function is called as the files are."""
    kinds = arguments.emit.split(",")
    if not set(kinds) <= {"obj", "header"}:
        raise UsageError(f"--emit takes obj, header or both, separated by a comma, got '{arguments.emit}'")
    if len(arguments.target) > 1:
        raise UsageError("an object file is for one --target")
    program.specialise(extent_pairs(arguments.extent))
    core, target = program.graph.core, target_name(*arguments.target)
    with progress(f"compiling {program.name}"):
        code, header = _core.export_object(core, as_text(os.path.basename(stem)), target)
    if "header" in kinds:
        _core.write_file(stem + ".h", header.encode())
        print(f"{bold(stem + '.h')}: {count_of(len(header), 'byte')}")
    if "obj" in kinds:
        _core.write_file(stem + ".o", code)
        print(
            f"{bold(stem + '.o')}: {count_of(len(code), 'byte')} for {target}; link it with {support_library()} -lpthread -lm"
        )
    return 0


def first_that_runs(program: Program, targets: list[str]) -> Any:
    """The program compiled for the first of these kinds of CPU that this one is, or for this one."""
    for target in targets:
        try:
            return program.executable(target)
        except ArgumentValueError as error:
            if error.label != "target_features":
                raise
    return program.executable("native" if targets else None)


def io_rows(ios: list[Io], names: list[str], inputs: list[str]) -> list[tuple[str, str, str]]:
    return [
        (name, shape_text(io.dtype, io.shape), f"lands in {inputs[io.alias]}" if io.alias is not None else "")
        for name, io in zip(names, ios, strict=True)
    ]


class Build:
    """The program for one kind of CPU, as a file has it."""

    def __init__(self, row: dict[str, Any]) -> None:
        self.row = row
        self.inputs, self.outputs = _ios(row["inputs"]), _ios(row["outputs"])
        self.kernels = [Kernel(*info) for info in row["kernels"]]
        self.names = [io.name or f"input{i}" for i, io in enumerate(self.inputs)]

    def state(self) -> str:
        return f"this CPU lacks {self.row['missing']}" if self.row["missing"] else "runs here"

    def json(self) -> dict[str, Any]:
        row = self.row
        kernels = [
            {"name": k.name, "source": k.source, "lines": list(k.lines), "ops": list(k.ops), "launches": k.launches}
            for k in self.kernels
        ]
        memory = {
            "arena": sized(row["arena"]),
            "persistent": sized(row["persistent"]),
            "constants": row["constants"],
            "code": row["code"],
        }
        keys = {"target": row["target"], "features": row["features"], "missing": row["missing"] or None}
        return {**keys, "kernels": kernels, "memory": memory, "cuts": row["cuts"]}


def sized(value: Any) -> Any:
    """A number of bytes, or the text of an expression of extents."""
    return value if isinstance(value, int) else str(value)


def inspect(arguments: argparse.Namespace) -> int:
    program = Program(arguments.program, arguments.function)
    if arguments.stablehlo:
        print(program.graph.stablehlo(), end="")
        return 0
    builds = [Build(row) for row in program.package.builds]
    if arguments.asm is not None:
        return print_assembly(program, builds, arguments)
    (print_json if arguments.json else print_builds)(program, builds)
    return 0


def print_json(program: Program, builds: list[Build]) -> None:
    first = builds[0]
    ios = lambda each, names: [
        {
            "name": n,
            "dtype": str(io.dtype),
            "shape": [sized(e) for e in io.shape],
            "alias": None if io.alias is None else first.names[io.alias],
        }
        for n, io in zip(names, each, strict=True)
    ]
    extents = {name: {"min": s.min, "opt": s.opt, "max": s.max} for name, s in symbols_of(first.inputs).items()}
    row = {
        "name": first.row["name"],
        "file_bytes": program.bytes if program.is_package else None,
        "inputs": ios(first.inputs, first.names),
    }
    print(
        json.dumps(
            {
                **row,
                "outputs": ios(first.outputs, names_of(first.outputs)),
                "extents": extents,
                "builds": [b.json() for b in builds],
            },
            indent=2,
        )
    )


def print_builds(program: Program, builds: list[Build]) -> None:
    first = builds[0]
    size = f": {count_of(program.bytes, 'byte')}" if program.is_package else ", compiled to be looked into"
    print(f"{bold(program.name)}{size}, program '{first.row['name']}'")
    print_part("inputs", io_rows(first.inputs, first.names, first.names))
    print_part("outputs", io_rows(first.outputs, names_of(first.outputs), first.names))
    symbols = symbols_of(first.inputs).items()
    print_part("extents", [(name, f"from {s.min:,} to {s.max:,}", f"scheduled for {s.opt:,}") for name, s in symbols])
    for build in builds:
        row = build.row
        print(f"{bold('built for ' + row['target'])} ({build.state()})")
        if row["features"]:
            print(f"  needs {', '.join(row['features'])}")
        memory = [
            ("code", row["code"]),
            ("arena of a run", row["arena"]),
            ("prepared once", row["persistent"]),
            ("constants", row["constants"]),
        ]
        print(
            *columns(
                [(f"{value:,} bytes" if isinstance(value, int) else f"{value} bytes", name) for name, value in memory]
            ),
            sep="\n",
        )
        rows = [(k.name, f"x{k.launches}", places(k.lines), " ".join(k.ops)) for k in build.kernels]
        if rows:
            print(*columns(rows, head=["kernel", "runs", "lines", "ops"]), sep="\n")
        print_part("cuts between kernels", [(cut,) for cut in row["cuts"]])


def places(lines: tuple[str, ...]) -> str:
    """model.py:5 6 8, other.py:3"""
    files: dict[str, list[str]] = {}
    for line in lines:
        file, _, number = line.partition(":")
        files.setdefault(file, []).append(number)
    return ", ".join(f"{file}:{' '.join(numbers)}".rstrip(":") for file, numbers in files.items())


def print_part(title: str, rows: list[Any]) -> None:
    if rows:
        print(bold(title))
        print(*columns(rows), sep="\n")


def print_assembly(program: Program, builds: list[Build], arguments: argparse.Namespace) -> int:
    numbers = [i for i, build in enumerate(builds) if arguments.target in (None, build.row["target"])]
    if not numbers:
        raise UsageError(
            f"there is no code for '{arguments.target}', there is for {', '.join(b.row['target'] for b in builds)}"
        )
    found = 0
    for name, text in program.package.assembly(numbers[0]):
        if arguments.asm in name:
            print(f"{bold(name)}:\n{text}", end="")
            found += 1
    if not found:
        raise UsageError(f"no function has '{arguments.asm}' in its name")
    return 0


def list_passes() -> int:
    table = _core.pass_table()
    print(bold("The pipeline, in order"))
    for name, doc, _, why in table:
        if why:
            print(f"  {name:20}{doc}\n  {'':20}Here, as {why}.")
    print(bold("Passes for loops, at its end, and for text that other tools read"))
    print(*[f"  {name:20}{doc}" for name, doc, _, why in table if not why], sep="\n")
    return 0


def opt(arguments: argparse.Namespace) -> int:
    if arguments.list:
        return list_passes()
    if arguments.program is None:
        raise UsageError("a program is wanted, or --list")
    names = [name for name, _, _, why in _core.pass_table() if why]
    if arguments.passes is not None:
        names = [name.strip() for name in arguments.passes.split(",") if name.strip()]
    if not names:
        raise UsageError("-p takes names of passes, separated by commas; --list lists them")
    program = Program(arguments.program, arguments.function)
    program.specialise(extent_pairs(arguments.extent))
    core, rewrites = program.graph.core, []
    # What flatten does is needed, so it is not counted.
    left = arguments.stop_after
    with progress(f"rewriting {program.name}"):
        for name in names:
            is_needed = name.startswith("flatten")
            core, done = _core.run_passes(core, [name], None if is_needed else left)
            left = left if left is None or is_needed else left - len(done)
            rewrites += [(name, *each) for each in done]
    if arguments.explain:
        explain(program.graph.core, core, rewrites)
    else:
        graph = Graph(core)
        text = graph.text(core.level) if arguments.short else graph.mlir(locations=not arguments.no_locations)
        if arguments.output in (None, "-"):
            print(text, end="")
        else:
            _core.write_file(arguments.output, text.encode())
            say("note", f"{arguments.output}: {count_of(len(core), 'operation')}, {count_of(len(rewrites), 'rewrite')}")
    return 0


def explain(before: Any, after: Any, rewrites: list[tuple[str, str, str, str]]) -> None:
    """Which rule fired how often and where, most often first within each pass."""
    print(f"{count_of(len(before), 'operation')} before, {len(after):,} after; {count_of(len(rewrites), 'rewrite')}")
    for name in dict.fromkeys(each[0] for each in rewrites):
        print(bold(name))
        rules = Counter(rule for pass_name, rule, _, _ in rewrites if pass_name == name)
        for rule, count in rules.most_common():
            print(f"  {count:4}x  {rule}")
            places = Counter(
                (op, place) for pass_name, each, op, place in rewrites if (pass_name, each) == (name, rule)
            )
            for (op, place), times in places.most_common():
                print(f"         {op}{f' at {place}' if place else ''}{f', {times} times' if times > 1 else ''}")
