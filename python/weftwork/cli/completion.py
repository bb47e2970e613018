"""weft completion: scripts for shells, made of the parser."""

from __future__ import annotations

import argparse
from typing import Any


def options_of(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    return [action for action in parser._actions if action.option_strings]


def words_of(parser: argparse.ArgumentParser) -> list[str]:
    """Fixed words in the place of arguments."""
    return [str(choice) for action in parser._actions if not action.option_strings for choice in action.choices or ()]


def bash(commands: dict[str, Any]) -> str:
    cases = []
    for name, parser in commands.items():
        words = [*(o for action in options_of(parser) for o in action.option_strings), *words_of(parser)]
        cases.append(f'    {name}) words="{" ".join(words)}" ;;')
    return "\n".join([
        "_weft() {",
        '  local word="${COMP_WORDS[COMP_CWORD]}" words=""',
        "  if [ \"$COMP_CWORD\" -eq 1 ]; then",
        f'    COMPREPLY=($(compgen -W "{" ".join(commands)} --help --version" -- "$word"))',
        "    return",
        "  fi",
        '  case "${COMP_WORDS[1]}" in',
        *cases,
        "  esac",
        '  COMPREPLY=($(compgen -W "$words" -- "$word"))',
        "}",
        "complete -o default -F _weft weft",
    ])  # fmt: skip


def zsh(commands: dict[str, Any]) -> str:
    return "autoload -U +X bashcompinit && bashcompinit\n" + bash(commands)


def fish(commands: dict[str, Any]) -> str:
    lines = ["complete -c weft -n __fish_use_subcommand -f"]
    text = lambda value: (value or "").replace("\\", "\\\\").replace("'", "\\'")
    for name, parser in commands.items():
        lines.append(
            f"complete -c weft -n __fish_use_subcommand -a {name} -d '{text((parser.description or '').splitlines()[0])}'"
        )
        here = f"complete -c weft -n '__fish_seen_subcommand_from {name}'"
        for action in options_of(parser):
            spelled = " ".join(f"-l {o[2:]}" if o.startswith("--") else f"-s {o[1:]}" for o in action.option_strings)
            lines.append(f"{here} {spelled}{'' if action.nargs == 0 else ' -r'} -d '{text(action.help)}'")
        if words_of(parser):
            lines.append(f"{here} -f -a '{' '.join(words_of(parser))}'")
    return "\n".join(lines)


def show(arguments: argparse.Namespace) -> int:
    from .main import build_parser

    print({"bash": bash, "zsh": zsh, "fish": fish}[arguments.shell](build_parser()[1]))
    return 0
