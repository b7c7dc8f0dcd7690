"""``cutile-lint completion``: scripts that complete commands, options and their values in a shell."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import import_module

from cutile_lint.cli.common import command_parser
from cutile_lint.cli.main import COMMANDS
from cutile_lint.engine.registry import builtin_rules
from cutile_lint.records import dataclass

#: values of options that argparse does not know as choices
_LEVELS = ("info", "warning", "error")
_SELECTORS = {"--select", "--ignore", "--extend-select"}

EPILOG = """\
bash: cutile-lint completion bash > ~/.local/share/bash-completion/completions/cutile-lint
zsh:  cutile-lint completion zsh > a folder of $fpath, as _cutile-lint
fish: cutile-lint completion fish > ~/.config/fish/completions/cutile-lint.fish"""


@dataclass(frozen=True, slots=True)
class Option:
    """``names``: ``--fix`` or ``-j``, ``--jobs``; ``values``: what may follow; ``takes``: whether something must."""

    names: tuple[str, ...]
    help: str
    takes: bool
    values: tuple[str, ...] = ()


def parser() -> argparse.ArgumentParser:
    made = command_parser("completion", "Print a script that completes cutile-lint's command line.")
    made.epilog = EPILOG
    made.add_argument("shell", choices=sorted(_SHELLS), metavar="SHELL", help="bash, fish or zsh")
    return made


def main(arguments: Sequence[str]) -> int:
    options = parser().parse_args(arguments)
    sys.stdout.write("".join(f"{line}\n" for line in _SHELLS[options.shell]()))
    return 0


def _options(command: str) -> list[Option]:
    made: argparse.ArgumentParser = import_module(f"cutile_lint.cli.{COMMANDS[command]}").parser()
    return [_option(action) for action in made._actions if action.option_strings]


def _option(action: argparse.Action) -> Option:
    values = tuple(map(str, action.choices or ()))
    if "--min-level" in action.option_strings:
        values = _LEVELS
    elif _SELECTORS & set(action.option_strings):
        values = tuple(_selectors())
    return Option(tuple(action.option_strings), action.help or "", action.nargs != 0, values)


def _selectors() -> Iterator[str]:
    for info in builtin_rules():
        yield info.code
        yield info.name


def _words(command: str) -> tuple[str, ...]:
    """What may stand where the command's own arguments do, besides paths."""
    return tuple(_selectors()) if command == "rule" else ("bash", "fish", "zsh") if command == "completion" else ()


def _row(words: Iterable[str], between: str = " ") -> str:
    return between.join(words)


def _bash() -> Iterator[str]:
    yield "_cutile_lint() {"
    yield '    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command=check options="" values="" words=""'
    yield "    [[ $COMP_CWORD -gt 1 ]] && case ${COMP_WORDS[1]} in"
    yield f"        {'|'.join(COMMANDS)}) command=${{COMP_WORDS[1]}} ;;"
    yield "    esac"
    yield "    case $command in"
    for command in COMMANDS:
        options = _options(command)
        yield f"        {command})"
        yield f'            options="{_row(name for option in options for name in option.names)}"'
        yield f'            words="{_row(_words(command))}"'
        yield "            case $prev in"
        for option in options:
            if option.values:
                yield f'                {_row(option.names, "|")}) values="{_row(option.values)}" ;;'
        yield "            esac ;;"
    yield "    esac"
    yield f'    [[ $COMP_CWORD -eq 1 ]] && words="$words {_row(COMMANDS)}"'
    yield "    if [[ -n $values ]]; then"
    yield '        COMPREPLY=($(compgen -W "$values" -- "$cur"))'
    yield "    elif [[ $cur == -* ]]; then"
    yield '        COMPREPLY=($(compgen -W "$options" -- "$cur"))'
    yield "    else"
    yield '        COMPREPLY=($(compgen -W "$words" -- "$cur") $(compgen -f -- "$cur"))'
    yield "    fi"
    yield "}"
    yield "complete -o filenames -F _cutile_lint cutile-lint"


def _zsh() -> Iterator[str]:
    yield "#compdef cutile-lint"
    yield "_cutile_lint() {"
    yield "    local command=check"
    yield f"    if (( CURRENT > 2 )); then case $words[2] in {'|'.join(COMMANDS)}) command=$words[2] ;; esac; fi"
    yield f"    (( CURRENT == 2 )) && compadd -- {' '.join(COMMANDS)}"
    yield "    case $command in"
    for command in COMMANDS:
        yield f"        {command}) _arguments \\"
        for option in _options(command):
            for name in option.names:
                value = f":value:{_zsh_values(option.values)}" if option.takes else ""
                yield f"            '{name}[{_zsh_text(option.help)}]{value}' \\"
        yield f"            '*:argument:{_zsh_values(_words(command))}' ;;"
    yield "    esac"
    yield "}"
    yield '_cutile_lint "$@"'


def _zsh_values(values: tuple[str, ...]) -> str:
    return f"({_row(values)})" if values else "_files"


def _zsh_text(text: str) -> str:
    for char in "\\[]:":
        text = text.replace(char, f"\\{char}")
    return text.replace("'", "'\\''")


def _fish() -> Iterator[str]:
    commands = " ".join(COMMANDS)
    first = f"not __fish_seen_subcommand_from {commands}"
    yield f"complete -c cutile-lint -n '{first}' -a '{commands}'"
    for command in COMMANDS:
        others = " ".join(name for name in COMMANDS if name != command)
        when = f"not __fish_seen_subcommand_from {others}" if command == "check" else f"__fish_seen_subcommand_from {command}"
        if _words(command):
            yield f"complete -c cutile-lint -n '{when}' -f -a '{_row(_words(command))}'"
        for option in _options(command):
            names = " ".join(f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in option.names)
            value = f" -x -a '{_row(option.values)}'" if option.values else " -r" if option.takes else ""
            text = option.help.replace("\\", "\\\\").replace("'", "\\'")
            yield f"complete -c cutile-lint -n '{when}' {names}{value} -d '{text}'"


_SHELLS: dict[str, Callable[[], Iterator[str]]] = {"bash": _bash, "fish": _fish, "zsh": _zsh}
