"""The command line: what each subcommand takes, and what becomes of errors."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import warnings
from collections.abc import Callable
from typing import Any, NoReturn

from .. import __version__, errors
from ..knobs import report_problems
from . import completion, looking, running, tables
from .program import as_text, nearest
from .terminal import UsageError, say

OK, FAILED, USAGE, INTERNAL, INTERRUPTED = 0, 1, 2, 3, 130

EPILOG = """exit status:
  0  it is done
  1  the program or a file failed, or --compare found results that differ
  2  the command line is wrong
  3  a mistake in Weftwork itself; please report it with the program

"-" is standard input or output. NO_COLOR=1 writes plain text on terminals too.
weft COMMAND --help has examples."""


class Parser(argparse.ArgumentParser):
    """One line for what is wrong, and where more is said."""

    def error(self, message: str) -> NoReturn:
        say("error", f"{message} ({self.prog} --help says more)")
        sys.exit(USAGE)


def whole(text: str) -> int:
    """An integer from 0 that fits 31 bits."""
    if not (text.isdecimal() and int(text) < 1 << 31):
        raise argparse.ArgumentTypeError(f"takes an integer from 0 to {(1 << 31) - 1}, got '{text}'")
    return int(text)


Add = Callable[..., Any]


def subcommand(
    commands: Any, name: str, does: str, run: Callable[[argparse.Namespace], int], examples: str, doc: str = ""
) -> Add:
    text = f"{does[0].upper()}{does[1:]}." + (f"\n\n{doc}" if doc else "")
    indented = "\n".join(f"  {line}" for line in examples.strip().splitlines())
    parser = commands.add_parser(
        name,
        help=does,
        description=text,
        epilog=f"examples:\n{indented}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=run)
    return parser.add_argument


def add_program(add: Add, optional: bool = False) -> None:
    extra: dict[str, Any] = {"nargs": "?"} if optional else {}
    add("program", metavar="PROGRAM", help="StableHLO text, a .weft file, or - for text on standard input", **extra)
    add("--function", metavar="NAME", help="the function of a text with several (main)")


def add_extent(add: Add, does: str) -> None:
    add("--extent", metavar="NAME=N", action="append", default=[], help=does)


def add_arrays(add: Add) -> None:
    add_program(add)
    add(
        "inputs",
        metavar="[NAME=]FILE",
        nargs="*",
        default=[],
        help="arrays: .npy for the next input, or for one by name; .npz, .safetensors by name; - for .npy on standard input",
    )
    add_extent(add, "the value of a symbolic extent that no array tells")
    add("--seed", type=int, default=0, help="of the random arrays for inputs that are not given (0)")
    add(
        "--cast",
        action="store_true",
        help="convert arrays to the element types of the program, and results to what a file can hold",
    )


def add_outputs(add: Add) -> None:
    add(
        "--out",
        metavar="[NAME=]FILE",
        action="append",
        default=[],
        help="where results go: .npy for the next output, or for one by name; .npz, .safetensors for all; - for .npy on standard output",
    )
    add("-q", "--quiet", action="store_true", help="do not print what went in and came out")


def add_running(commands: Any) -> None:
    examples = """
weft run model.mlir                              random inputs
weft run model.weft x.npy --out y.npy
weft run model.weft weights.safetensors x=x.npy --out y.npz
weft run model.mlir --extent n=64 --compare interpret
weft run model.weft - --out - < x.npy > y.npy"""
    doc = "Inputs that are not given are random. Prints the arrays that went in and came out."
    add = subcommand(commands, "run", "run a program on arrays", running.run, examples, doc)
    add_arrays(add)
    add_outputs(add)
    add(
        "--target",
        metavar="CPU",
        type=as_text,
        help="the kind of CPU to compile text for, or whose code to take out of a file: native, avx512, avx2, x86-64 (the knob target)",
    )
    add(
        "--compare",
        metavar="interpret|FILE",
        help="hold results against those of the reference interpreter, or of a file; exit status 1 where they differ",
    )
    add(
        "--rtol",
        type=float,
        help="how far they may be apart, relative to the largest element (by element type: 1e-4 for float32)",
    )
    add("--atol", type=float, default=0.0, help="how far they may be apart in any case (0)")

    examples = """
weft simulate model.mlir x.npy --out y.npy
weft simulate model.weft --kernels"""
    doc = "No machine code is made or loaded. It takes what weft run takes."
    add = subcommand(
        commands, "simulate", "run a program by the reference interpreter", running.simulate, examples, doc
    )
    add_arrays(add)
    add_outputs(add)
    add("--kernels", action="store_true", help="interpret the kernels that fusion made, not the operations")

    examples = """
weft bench model.weft --iterations 1000
weft bench model.mlir x.npy --threads 1 --json"""
    doc = "Times are of whole runs into results that there are, by the wall clock."
    add = subcommand(commands, "bench", "measure how long a program runs", running.bench, examples, doc)
    add_arrays(add)
    add("--warmup", type=whole, default=5, metavar="N", help="runs before those that count (5)")
    add("--iterations", type=whole, default=50, metavar="N", help="runs that count (50)")
    add("--threads", type=int, metavar="N", help="threads of a run (the knob threads)")
    add(
        "--target",
        metavar="CPU",
        type=as_text,
        help="the kind of CPU to compile text for, or whose code to take out of a file (the knob target)",
    )
    add("--json", action="store_true", help="print JSON, with times in seconds")


def add_compile(commands: Any) -> None:
    examples = """
weft compile model.mlir                          writes model.weft
weft compile model.mlir -o any.weft --target avx512 --target avx2 --target x86-64
weft compile model.mlir --extent n=64            with constants for symbolic extents
weft compile model.mlir --emit=obj,header --target avx2      writes model.o and model.h"""
    add = subcommand(commands, "compile", "compile a program into a .weft file", looking.compile_program, examples)
    add_program(add)
    add("-o", "--output", metavar="FILE", help="the file (the program's name, in this folder)")
    add(
        "--target",
        metavar="CPU",
        type=as_text,
        action="append",
        default=[],
        help="native, avx512, avx2, x86-64 (the knob target); several times for code for several kinds; neuron writes a .neff file",
    )
    add(
        "--emit",
        metavar="obj,header",
        help="write an object file and a C header, for C programs without Weftwork, instead",
    )
    add_extent(add, "a constant for a symbolic extent")


def add_inspect(commands: Any) -> None:
    examples = """
weft inspect model.weft
weft inspect model.weft --json | jq .builds[0].memory
weft inspect model.weft --stablehlo
weft inspect model.weft --asm add_tanh           functions with that in their name"""
    doc = "Inputs, outputs, symbolic extents, kinds of CPU, memory, kernels with the user's lines, and why fusion stopped where it\ndid. No machine code of the file is loaded."
    add = subcommand(commands, "inspect", "say what is in a .weft file", looking.inspect, examples, doc)
    add_program(add)
    add(
        "--asm",
        metavar="NAME",
        nargs="?",
        const="",
        help="print the machine code of functions with NAME in their name, of all without it",
    )
    add("--target", metavar="CPU", type=as_text, help="of --asm: of the code for this kind of CPU")
    add("--stablehlo", action="store_true", help="print the program as StableHLO")
    add("--json", action="store_true", help="print JSON")


def add_opt(commands: Any) -> None:
    examples = """
weft opt model.mlir                              all passes of the compiler
weft opt model.mlir -p flatten,simplify --short
weft opt model.mlir --explain
weft opt model.mlir -p flatten | weft opt - -p cse
weft opt --list"""
    doc = "Prints the program after the passes, as text that all commands read."
    add = subcommand(commands, "opt", "rewrite a program by passes of the compiler", looking.opt, examples, doc)
    add_program(add, optional=True)
    add("-p", "--passes", metavar="NAME,…", type=as_text, help="the passes, in order (all of the pipeline)")
    add("-o", "--output", metavar="FILE", help="where the text goes (standard output)")
    add("--explain", action="store_true", help="print which rule was applied how often and where, instead of the text")
    add(
        "--stop-after",
        metavar="N",
        type=whole,
        help="apply the first N rewrites only: finds the one that breaks a program",
    )
    add("--short", action="store_true", help="print the short form, a line for each operation")
    add("--no-locations", action="store_true", help="leave the user's lines out of the text")
    add("--list", action="store_true", help="list the passes")
    add_extent(add, "a constant for a symbolic extent, before the passes")


def add_tables(commands: Any) -> None:
    add = subcommand(
        commands,
        "ops",
        "list the operations",
        tables.ops,
        "weft ops tanh\nweft ops 'reduce*'\nweft ops --family linalg\nweft ops --dtype bfloat16",
    )
    add("name", metavar="NAME", nargs="?", help="a name, a part of names, or a pattern with *")
    add("--family", metavar="FAMILY", help="those of one family")
    add("--dtype", metavar="DTYPE", help="those whose operands may all be of this element type")
    add("--json", action="store_true", help="print JSON")

    add = subcommand(
        commands,
        "knobs",
        "list the settings and their values",
        tables.knobs,
        "weft knobs\nWEFT_THREADS=1 weft knobs --json",
    )
    add("--json", action="store_true", help="print JSON")

    add = subcommand(
        commands,
        "cache",
        "look at or clear the programs kept on disk",
        tables.show_cache,
        'weft cache\nweft cache clear\ndu -sh "$(weft cache path)"',
    )
    add("action", nargs="?", choices=["info", "clear", "path"], default="info", help="info, clear or path (info)")
    add("--json", action="store_true", help="print JSON")

    examples = """
source <(weft completion bash)                   in ~/.bashrc
source <(weft completion zsh)                    in ~/.zshrc, after compinit
weft completion fish > ~/.config/fish/completions/weft.fish"""
    add = subcommand(
        commands, "completion", "print what a shell needs to complete command lines", completion.show, examples
    )
    add("shell", choices=["bash", "zsh", "fish"])


def build_parser() -> tuple[Parser, dict[str, Parser]]:
    """The parser of the command line, and that of each subcommand."""
    parser = Parser(
        prog="weft",
        description="Compiles, runs, measures and looks into tensor programs.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"weft {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    add_compile(commands)
    add_inspect(commands)
    add_opt(commands)
    add_running(commands)
    add_tables(commands)
    return parser, commands.choices


def sentence(error: BaseException) -> str:
    """An error in one line, its place first."""
    if isinstance(error, OSError) and error.filename is not None:
        return f"{os.fspath(error.filename)}: {error.strerror}"
    if isinstance(error, OSError) and error.errno is not None:
        return f"standard output: {error.strerror}"
    lines = [line for line in str(error).splitlines() if line.strip()] or [type(error).__name__]
    # The source line stands behind the place.
    place = next((line.strip().split("   ")[0] for line in lines[1:] if line.startswith("  ")), "")
    return f"{place}: {lines[0]}" if place else lines[0]


def main(argv: list[str] | None = None) -> int:
    """Runs a command line, without the word "weft", and returns its exit status."""
    words = sys.argv[1:] if argv is None else argv
    parser, commands = build_parser()
    if not words:
        parser.print_help(sys.stderr)
        return USAGE
    if not words[0].startswith("-") and words[0] not in commands:
        say("error", f"there is no command '{words[0]}'{nearest(words[0], list(commands))} (weft --help says more)")
        return USAGE
    try:
        # Files and options in any order.
        arguments = (
            commands[words[0]].parse_intermixed_args(words[1:]) if words[0] in commands else parser.parse_args(words)
        )
    except SystemExit as leaving:
        return leaving.code if isinstance(leaving.code, int) else USAGE
    with warnings.catch_warnings():
        warnings.showwarning = lambda message, *_, **__: say("warning", str(message))
        try:
            report_problems()
            return arguments.run(arguments)
        except UsageError as error:
            say("error", str(error))
            return USAGE
        except (errors.Error, OSError, MemoryError) as error:
            if isinstance(error, BrokenPipeError):
                raise
            say("error", sentence(error))
            return FAILED
        except Exception as error:
            say("internal error", f"{sentence(error)} ({type(error).__name__}); please report it with the program")
            return INTERNAL


def entry() -> NoReturn:
    """What the command ``weft`` runs. Ctrl-C and closed pipes end it as they end any other command: at once, without a word."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    # Python has no stream where the caller has closed one.
    sys.stdin = sys.stdin or os.fdopen(os.open(os.devnull, os.O_RDONLY))
    sys.stdout = sys.stdout or os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")
    sys.stderr = sys.stderr or os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")
    # What the encoding lacks is escaped, as it is on standard error.
    sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    status = main()
    try:
        sys.stdout.flush()
    except OSError as error:
        say("error", f"standard output: {error.strerror}")
        status = status or FAILED
        # What could not be written is not tried again at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(status)
