"""The cases in a rule's YAML file: small trees of files, what the rule says about them, and what its fix makes of them.

Used by the tests of this repository and by ``test-rules`` for anyone's rules. How a tree is linted and fixed is up to a
:class:`Runner`, which a room above this one provides. The format is described in ``docs/rule-format.md``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from cutile_lint.engine.registry import RuleInfo, builtin_rules
from cutile_lint.engine.rule_docs import RuleDoc
from cutile_lint.errors import UserError
from cutile_lint.findings import Finding
from cutile_lint.records import dataclass, field
from cutile_lint.sources import Place, Span

Tree = dict[str, str]

OPEN, CLOSE = "«", "»"


class CaseError(UserError):
    """A case that cannot be set up: an edit that does not fit, a base that is not there."""


@dataclass(slots=True)
class CaseRun:
    """What linting a tree gave. Paths of findings lie below ``root``."""

    root: Path
    findings: list[Finding]
    errors: list[str] = field(default_factory=list)


class Runner(Protocol):
    """Lints and fixes a tree of files with the given rules and configuration values; ``paths`` are below the tree's root."""

    def check(self, tree: Tree, rules: Sequence[RuleInfo], options: Mapping[str, Any], paths: Sequence[str]) -> CaseRun: ...

    def fix(
        self, tree: Tree, rules: Sequence[RuleInfo], options: Mapping[str, Any], paths: Sequence[str], unsafe: bool
    ) -> tuple[Tree, list[str]]:
        """The tree after fixing, and what went wrong with a fix (undone, rules that fight)."""
        ...


@dataclass(frozen=True, slots=True)
class Case:
    """One case of one rule. ``clean`` is its tree without the edits, ``tree`` the one that is linted."""

    rule: RuleInfo
    data: Mapping[str, Any]
    valid: bool
    clean: Tree
    tree: Tree

    @property
    def name(self) -> str:
        return self.data["name"]

    @property
    def id(self) -> str:
        return f"{self.rule.code}-{'valid' if self.valid else 'invalid'}-{self.name}"

    @property
    def options(self) -> Mapping[str, Any]:
        return self.data.get("options") or {}

    @property
    def paths(self) -> Sequence[str]:
        return self.data.get("paths") or (".",)


# ── setting up ─────────────────────────────────────────────────────────────


def load_cases(doc: RuleDoc) -> list[Case]:
    """The cases of a rule, valid ones first. Raises :class:`CaseError`."""
    return [make_case(doc.info, data, valid=kind == "valid") for kind in ("valid", "invalid") for data in getattr(doc, kind)]


def make_case(rule: RuleInfo, data: Mapping[str, Any], *, valid: bool) -> Case:
    where = f"{rule.code}, case `{data['name']}`"
    if "base" in data:
        tree = dict(load_base(data["base"], rule.root))
    else:
        tree = dict(data["files"])
    for path in data.get("remove") or ():
        _demand(tree, path, where)
        del tree[path]
    for old, new in (data.get("rename") or {}).items():
        _demand(tree, old, where)
        tree[new] = tree.pop(old)
    tree |= data.get("add") or {}
    edited = apply_edits(tree, data.get("edits") or {}, where)
    encode = data.get("encode") or ()
    return Case(rule, data, valid, _encoded(tree, encode), _encoded(edited, encode))


def load_base(name: str, root: Path | None = None) -> Tree:
    """A base tree by its name: from the folder ``bases`` below ``root``, else from the rules that cutile-lint ships."""
    roots = [root] if root is not None else []
    roots += [info.root for info in builtin_rules()[:1]] or [_builtin_root()]
    for candidate in roots:
        folder = candidate / "bases" / name
        if folder.is_dir():
            files = sorted(path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
            return {path.relative_to(folder).as_posix(): path.read_bytes().decode("utf-8") for path in files}
    raise CaseError(f"there is no base `{name}`")


def _builtin_root() -> Path:
    from cutile_lint import _rules

    return Path(next(iter(_rules.__path__)))


def apply_edits(tree: Tree, edits: Mapping[str, Any], where: str) -> Tree:
    """The tree with the edits made: per path a list of ``[old, new]`` (each old text occurs exactly once), or the whole text."""
    result = dict(tree)
    for path, changes in edits.items():
        if isinstance(changes, str):
            result[path] = changes
            continue
        _demand(tree, path, where)
        for old, new in changes:
            count = result[path].count(old)
            if count != 1:
                raise CaseError(f"{where}: {old!r} occurs {count} times in {path}; once is expected")
            result[path] = result[path].replace(old, new)
    return result


def _demand(tree: Tree, path: str, where: str) -> None:
    if path not in tree:
        raise CaseError(f"{where}: there is no file {path}; there are {', '.join(sorted(tree))}")


def _encoded(tree: Tree, encode: Sequence[str]) -> Tree:
    if "crlf" in encode:
        tree = {path: text.replace("\n", "\r\n") for path, text in tree.items()}
    if "bom" in encode:
        tree = {path: "\ufeff" + text for path, text in tree.items()}
    return tree


# ── checking ───────────────────────────────────────────────────────────────


def check_case(case: Case, runner: Runner, rules: Sequence[RuleInfo] = ()) -> list[str]:
    """What is wrong with a case, one sentence each; nothing if the rule does as the case says.

    ``rules`` are all rules there are, for a case that wants no other rule's findings (``only``).
    """
    chosen = tuple(rules) if case.data.get("only") and rules else (case.rule,)
    run = runner.check(case.tree, chosen, case.options, case.paths)
    problems = list(run.errors)
    if case.data.get("only"):
        problems += [f"another rule's finding: {_told(found, run)}" for found in run.findings if found.code != case.rule.code]
    found = [finding for finding in run.findings if finding.code == case.rule.code]
    if case.valid:
        return problems + [f"not expected: {_told(finding, run)}" for finding in found]
    problems += _compare(case, found, run)
    return problems or _check_fixes(case, found, runner, chosen)


def _compare(case: Case, found: list[Finding], run: CaseRun) -> list[str]:
    """Pair expected and actual findings by place; every one must have its partner."""
    problems = []
    left = list(found)
    expectations = case.data.get("findings") or []
    if not expectations:
        problems.append("the case expects no finding: list them under `findings`")
    for expected in expectations:
        path, span = locate(case.tree, expected)
        partner = next((item for item in left if _is_at(item.place, run.root, path, span)), None)
        if partner is None:
            problems.append(f"no finding at {expected['at']!r} in {path}")
            continue
        left.remove(partner)
        problems += _compare_one(case, expected, partner, run)
    return problems + [f"not expected: {_told(finding, run)}" for finding in left]


def _compare_one(case: Case, expected: Mapping[str, Any], finding: Finding, run: CaseRun) -> list[str]:
    problems = []
    for key in ("message", "help"):
        if expected.get(key, "") not in getattr(finding, key):
            problems.append(f"the {key} is {getattr(finding, key)!r}; {expected[key]!r} is not in it")
    if "level" in expected and finding.level.value != expected["level"]:
        problems.append(f"the level is {finding.level.value}, not {expected['level']}")
    if "fix" in expected:
        applicability = finding.fix.applicability.value if finding.fix else "manual"
        if applicability != expected["fix"]:
            problems.append(f"the fix is {applicability}, not {expected['fix']}")
    places = iter(finding.related)
    for related in expected.get("related") or ():
        path, span = locate(case.tree, related)
        text = related.get("message", "")
        if not any(_is_at(place.place, run.root, path, span) and text in place.message for place in places):
            listed = "; ".join(f"{item.place.path.name}: {item.place.text!r} ({item.message})" for item in finding.related)
            problems.append(f"no related place {related['at']!r} in {path} (in this order); there are {listed or 'none'}")
    return problems


def _check_fixes(case: Case, found: list[Finding], runner: Runner, rules: Sequence[RuleInfo]) -> list[str]:
    """The fixes as the case expects them, and what holds for every fix: finding gone, nothing left to do in a second run."""
    problems = []
    for key, unsafe in (("fixed", False), ("unsafe_fixed", True)):
        level = "unsafe" if unsafe else "safe"
        has_fix = any(item.fix is not None and item.fix.applicability.value == level for item in found)
        if key not in case.data and not has_fix:
            continue
        after, failures = runner.fix(case.tree, rules, case.options, case.paths, unsafe)
        problems += failures
        if key in case.data:
            problems += _compare_trees(_expected_tree(case, key), after, key)
        if has_fix:
            problems += _check_stable(case, found, after, runner, rules, unsafe)
    return problems


def _check_stable(
    case: Case, found: list[Finding], after: Tree, runner: Runner, rules: Sequence[RuleInfo], unsafe: bool
) -> list[str]:
    rest = runner.check(after, rules, case.options, case.paths)
    fixable = sum(1 for item in found if item.fix is not None and (unsafe or item.fix.applicability.value == "safe"))
    problems = [f"after the fix: {error}" for error in rest.errors]
    if len(rest.findings) > len(found) - fixable:
        problems += [f"still there after the fix: {_told(item, rest)}" for item in rest.findings]
    again, _ = runner.fix(after, rules, case.options, case.paths, unsafe)
    if again != after:
        problems.append("a second run of the fix changes the files again")
    return problems


def _expected_tree(case: Case, key: str) -> Tree:
    wanted = case.data[key]
    if wanted == "base":
        return case.clean
    if wanted == "unchanged":
        return case.tree
    if not isinstance(wanted, Mapping):
        raise CaseError(f"{case.rule.code}, case `{case.name}`: `{key}` must be `base`, `unchanged` or a mapping of files")
    encode = case.data.get("encode") or ()
    plain = {path: text.removeprefix("\ufeff").replace("\r\n", "\n") for path, text in case.tree.items()} if encode else case.tree
    return _encoded(apply_edits(plain, wanted, f"{case.rule.code}, case `{case.name}`, {key}"), encode)


def _compare_trees(wanted: Tree, after: Tree, key: str) -> list[str]:
    from difflib import unified_diff

    problems = []
    for path in sorted(wanted.keys() | after.keys()):
        old, new = wanted.get(path), after.get(path)
        if old != new:
            lines = unified_diff((old or "").splitlines(), (new or "").splitlines(), "expected", "actual", lineterm="")
            diff = "".join(f"{line}\n" for line in lines)
            if (old or "").splitlines() == (new or "").splitlines():
                diff = f"only line endings differ: {old!r} is expected, not {new!r}"
            problems.append(f"`{key}`: {path} is not as expected\n{diff}")
    return problems


def locate(tree: Tree, expected: Mapping[str, Any]) -> tuple[str, Span]:
    """File and byte span that ``at`` means: a text that occurs once; what stands in «…» if that is only its context."""
    if not isinstance(expected, Mapping) or not isinstance(at := expected.get("at"), str):
        raise CaseError(
            f"{dict(expected) if isinstance(expected, Mapping) else expected!r}: `at`, the text that is found, is missing"
        )
    before, opened, rest = at.partition(OPEN)
    inner, closed, behind = rest.partition(CLOSE)
    text = before + inner + behind if opened and closed else at
    paths = [expected["file"]] if "file" in expected else sorted(tree)
    hits = []
    for path in paths:
        content = tree.get(path, "")
        needle = text.replace("\n", "\r\n") if "\r\n" in content else text
        hits += [(path, content, needle)] * content.count(needle)
    if len(hits) != 1:
        raise CaseError(f"{text!r} occurs {len(hits)} times in {', '.join(paths)}; once is expected")
    path, content, needle = hits[0]
    if "\r\n" in content:
        before, inner = before.replace("\n", "\r\n"), inner.replace("\n", "\r\n")
    start = len(content[: content.index(needle)].encode())
    if not (opened and closed):
        return path, Span(start, start + len(needle.encode()))
    start += len(before.encode())
    return path, Span(start, start + len(inner.encode()))


def _is_at(place: Place, root: Path, path: str, span: Span) -> bool:
    return place.path == root / path and place.span == span


def _told(finding: Finding, run: CaseRun) -> str:
    try:
        path = finding.path.relative_to(run.root).as_posix()
    except ValueError:
        path = str(finding.path)
    row, column = finding.place.start
    return f"{path}:{row}:{column}: {finding.code} {finding.message} (at {finding.place.text!r})"
