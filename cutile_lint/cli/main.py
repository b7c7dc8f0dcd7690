"""``cutile-lint``: chooses the command, and ends cleanly whatever happens."""

from __future__ import annotations

import os
import sys

if __name__ == "__main__" and sys.path:
    # `python -m` puts the current folder first: a checked tree may have a `json.py`, or a plugin, of its own
    _home = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    try:
        if sys.path[0] == os.getcwd() != _home:
            del sys.path[0]
    except OSError:
        pass  # a folder that was removed holds nothing

from cutile_lint.errors import UserError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import NoReturn

#: command -> module below ``cutile_lint.cli`` with ``main(arguments) -> int``
COMMANDS = {
    "check": "check",
    "rule": "rule",
    "checklist": "checklist",
    "flow": "flow",
    "add-ignore": "add_ignore",
    "clean": "clean",
    "baseline": "baseline",
    "config": "config",
    "new-rule": "new_rule",
    "test-rules": "test_rules",
    "server": "server",
    "completion": "completion",
}
USAGE_ERROR = 2


def run() -> NoReturn:
    """The command line as a process of its own. What is about to end with it is not tidied up: that costs a fifth of a check."""
    import gc

    if _parted(sys.argv[1:])[0] == "check":
        gc.disable()  # of many ops it collects what each batch leaves; `--watch` lets it be done again
    try:
        status = main()
    except Exception:  # a fault of ours: 1 would mean findings
        sys.excepthook(*sys.exc_info())  # type: ignore[arg-type]
        status = USAGE_ERROR
    _flush()
    if _awaited():
        gc.freeze()
        sys.exit(status)
    os._exit(status)


def _awaited() -> bool:
    """Whether somebody does something when this process ends in the usual way: a handler, a profiler, a thread, a prompt."""
    import atexit

    threading, monitoring = sys.modules.get("threading"), getattr(sys, "monitoring", None)
    tools = [monitoring.get_tool(number) for number in range(6)] if monitoring is not None else []  # from Python 3.12 on
    watched = sys.gettrace() or sys.getprofile() or any(tools) or sys.flags.inspect
    return bool(watched or atexit._ncallbacks() or (threading is not None and threading.active_count() > 1))


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit status: 0, 1 for findings, 2 for errors of usage, configuration or our own."""
    command, arguments = _parted(sys.argv[1:] if argv is None else argv)
    _open_streams()
    try:
        try:
            return _run(command, arguments)
        except UserError as error:
            _tell(str(error))
            return USAGE_ERROR
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        _flush()  # the reader has gone (`| head`): nothing more to say
        return 1
    except OSError as error:
        _tell(_reason(error))
        return USAGE_ERROR
    except KeyboardInterrupt:
        print("cutile-lint: interrupted", file=sys.stderr)
        return 130


def _run(command: str, arguments: Sequence[str]) -> int:
    """The exit status of a command, once it has run. Raises UserError."""
    status = _known_answer(arguments) if command == "check" else None
    if status is None:
        import gc

        # trees and traces live to the end: looking for garbage in them cost a fifth of a check
        gc.set_threshold(50_000, 20, 50)
        status = _command(command)(arguments)
    return status


def _open_streams() -> None:
    """Standard streams that take every character; one that was closed fails when it is used, save for standard error."""
    for name, mode, opened in (("stdin", "r", os.O_WRONLY), ("stdout", "w", os.O_RDONLY), ("stderr", "w", os.O_WRONLY)):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.open(os.devnull, opened), mode))
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # a terminal that cannot show a character still gets the report


def _flush() -> bool:
    """Have everything written; False when that failed. Then nobody tries again: not Python at exit either."""
    done = True
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
            done = False
    return done


def _tell(message: str) -> None:
    """An error in one line on standard error, below what was said so far."""
    from cutile_lint.reports.text import clean

    _flush()
    try:
        print(f"cutile-lint: error: {clean(message)}", file=sys.stderr)
    except OSError:
        pass  # the status says it


def _reason(error: OSError) -> str:
    """What the system refused."""
    import errno

    why = error.strerror or str(error)
    if not _flush() or (error.filename is None and error.errno in (errno.EBADF, errno.EFBIG, errno.EIO, errno.ENOSPC)):
        return f"the output cannot be written: {why}"
    if not _current_folder():
        return "the current folder is not there: it was removed, or may not be entered"
    return f"{error.filename}: {why}" if error.filename is not None else why


def _current_folder() -> str:
    """The current folder; nothing when it has been removed."""
    try:
        return os.getcwd()
    except OSError:
        return ""


def _parted(words: Sequence[str]) -> tuple[str, Sequence[str]]:
    """The command of a command line, and its arguments."""
    return (words[0], words[1:]) if words and words[0] in COMMANDS else ("check", words)


def _known_answer(arguments: Sequence[str]) -> int | None:
    """What the same command line said before, where nothing has changed since: printed again. None: to be found out."""
    from cutile_lint.cache.fast import answer

    return answer(arguments)


def _command(name: str) -> Callable[[Sequence[str]], int]:
    from importlib import import_module

    return import_module(f"cutile_lint.cli.{COMMANDS[name]}").main


if __name__ == "__main__":
    run()
