"""Fix until clean: cutile-lint mends what is safe to mend, an agent gets the rest, and so on.

    python fix_until_clean.py [--rounds N] PATH... -- AGENT [ARGUMENT...]

AGENT is any command. It gets a JSON object on standard input, {"round", "paths", "findings", "rules"}: the findings that are left, as
`cutile-lint --output-format json` tells them, and the page of each of their rules by code. It edits the files, and ends with status 0.

Exit status: 0 clean; 1 findings are left (printed), because the agent made no headway or the rounds are used up; 2 something failed.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys


class Failed(Exception):
    """What cannot be mended by another round."""


def cutile_lint(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run cutile-lint; 0 and 1 are answers, 2 is a failure of configuration, a plugin, or cutile-lint."""
    done = subprocess.run(["cutile-lint", *arguments], capture_output=True, encoding="utf-8")
    if done.returncode not in (0, 1):
        raise Failed(done.stderr.strip())
    return done


def fixed_and_left(paths: list[str]) -> tuple[bool, list[dict]]:
    """Apply the safe fixes; whether that leaves the files clean, and the findings that fail them or inform."""
    done = cutile_lint("--fix", "--output-format", "json", "--", *paths)
    return done.returncode == 0, json.loads(done.stdout)


def identity(findings: list[dict]) -> list[tuple]:
    """What makes two rounds' findings the same ones. Rows move; codes, files and texts stay."""
    return sorted((item["code"], item["filename"], item["message"]) for item in findings)


def ask(agent: list[str], task: dict) -> None:
    if subprocess.run(agent, input=json.dumps(task), encoding="utf-8").returncode:
        raise Failed(f"{agent[0]} failed in round {task['round']}")


def loop(paths: list[str], agent: list[str], rounds: int) -> list[dict]:
    """The findings that are left; none when the files are clean."""
    before = None
    for number in range(1, rounds + 1):
        clean, findings = fixed_and_left(paths)
        if clean:
            return []
        if identity(findings) == before:
            return findings
        before = identity(findings)
        rules = {code: cutile_lint("rule", code).stdout for code in {item["code"] for item in findings}}
        ask(agent, {"round": number, "paths": paths, "findings": findings, "rules": rules})
    clean, findings = fixed_and_left(paths)
    return [] if clean else findings


def main() -> int:
    arguments = sys.argv[1:]
    split = arguments.index("--") if "--" in arguments else len(arguments)
    agent = arguments[split + 1 :]
    parser = argparse.ArgumentParser(usage="%(prog)s [--rounds N] PATH... -- AGENT [ARGUMENT...]")
    parser.add_argument("paths", nargs="+")
    parser.add_argument("--rounds", type=int, default=8)
    options = parser.parse_args(arguments[:split])
    if not agent:
        parser.error("an agent is missing: PATH... -- AGENT [ARGUMENT...]")
    try:
        left = loop(options.paths, agent, options.rounds)
    except (Failed, OSError) as error:
        print(f"fix_until_clean: {error}", file=sys.stderr)
        return 2
    for item in left:
        row, column = item["location"]["row"], item["location"]["column"]
        print(f"{item['filename']}:{row}:{column}: {item['code']} {item['message']}")
    return int(bool(left))


if __name__ == "__main__":
    sys.exit(main())
