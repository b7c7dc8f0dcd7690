"""``Cargo.toml`` of a kernel crate: edition, library, profiles, dependencies and the cutile version that they name."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from cutile_lint.frontends.syntax import Fault
from cutile_lint.frontends.toml_places import KeyPlace, key_places
from cutile_lint.frontends.versions import OLDEST, Version
from cutile_lint.records import dataclass, field
from cutile_lint.regex import regex
from cutile_lint.sources import Place, Source, Span
from cutile_lint.sources.limits import toml_refusal

#: bytes; a manifest has some KB
MAX_SIZE = 256 * 1024
_SECTIONS = ("dependencies", "dev-dependencies", "build-dependencies")
_LINE = regex(r"\(at line (\d+), column (\d+)\)")
_PART = regex(r"(=|\^|~|>=|<=|>|<)?\s*([0-9A-Za-z.*+-]+)")


@dataclass(frozen=True, slots=True)
class Setting:
    """A value and its place. ``key`` is the place of its key."""

    value: object
    place: Place
    key: Place


@dataclass(frozen=True, slots=True)
class Requirement:
    """A version requirement: ``=0.2.0``, ``^0.3``, ``0.2``, ``>=0.2, <0.4``."""

    text: str
    #: (operator, version, how many parts were written); "^" when none is written
    parts: tuple[tuple[str, Version, int], ...]

    @classmethod
    def parse(cls, text: str) -> Requirement:
        parts: list[tuple[str, Version, int]] = []
        for piece in text.split(","):
            found = _PART.fullmatch(piece.strip())
            if found is None:
                continue
            operator, written = found.groups()
            numbers = [number for number in written.split("-")[0].split("+")[0].split(".") if number not in ("*", "x", "X", "")]
            version = Version.parse(written.replace(".*", "") if numbers else "0")
            if version is not None and (numbers or operator):
                wild = "*" in written
                parts.append(("~" if wild else operator or "^", version, len(numbers)))
        return cls(text, tuple(parts))

    @property
    def exact(self) -> Version | None:
        """The version that ``=x.y.z`` pins."""
        for operator, version, count in self.parts:
            if operator == "=" and count == 3:
                return version
        return None

    @property
    def lowest(self) -> Version | None:
        """The oldest version that it allows; None when it names no lower bound."""
        lows = [version for operator, version, _ in self.parts if operator in ("=", "^", "~", ">=", ">")]
        return max(lows, key=Version._key) if lows else None

    def allows(self, version: Version) -> bool:
        return all(_allows(operator, wanted, count, version) for operator, wanted, count in self.parts)


def _allows(operator: str, wanted: Version, count: int, version: Version) -> bool:
    if operator in (">", ">=", "<", "<="):
        return {">": version > wanted, ">=": version >= wanted, "<": version < wanted, "<=": version <= wanted}[operator]
    if version < wanted:
        return False
    if operator == "=" and count == 3:
        return version == wanted
    return version < _ceiling(operator, wanted, count)


def _ceiling(operator: str, wanted: Version, count: int) -> Version:
    """The first version that is too new."""
    if count < 2 or (operator == "^" and wanted.major > 0):
        return Version(wanted.major + 1)
    if operator in ("~", "=") or wanted.minor > 0 or count == 2:
        return Version(wanted.major, wanted.minor + 1)
    return Version(0, 0, wanted.patch + 1)


@dataclass(slots=True)
class Dependency:
    """One dependency. ``name`` as used in code, ``package`` as published; ``section``: "workspace.dependencies", …

    ``place`` is the value (or the table's header), ``key`` the name. ``version`` is None when it comes from elsewhere
    (``path``, ``git``, the workspace).
    """

    name: str
    package: str
    section: str
    place: Place
    key: Place
    version: Setting | None = None
    requirement: Requirement | None = None
    path: Setting | None = None
    git: Setting | None = None
    tag: Setting | None = None
    is_inherited: bool = False
    features: tuple[str, ...] = ()

    @property
    def is_exact(self) -> bool:
        return self.requirement is not None and self.requirement.exact is not None


@dataclass(slots=True)
class Manifest:
    """A read manifest. With a fault everything else is empty."""

    source: Source
    package_name: Setting | None = None
    package_version: Setting | None = None
    edition: Setting | None = None
    lib_name: Setting | None = None
    lib_path: Setting | None = None
    crate_type: Setting | None = None
    #: profile → its ``panic`` setting
    panic: dict[str, Setting] = field(default_factory=dict)
    dependencies: list[Dependency] = field(default_factory=list)
    members: tuple[str, ...] = ()
    is_workspace: bool = False
    faults: list[Fault] = field(default_factory=list)

    @property
    def library(self) -> str:
        """The library's name in file names: ``[lib] name``, else the package's with underscores; "" if neither is given."""
        name = self.lib_name or self.package_name
        return str(name.value).replace("-", "_") if name else ""

    @property
    def crate_types(self) -> tuple[str, ...]:
        value = self.crate_type.value if self.crate_type else ()
        return tuple(str(item) for item in value) if isinstance(value, (list, tuple)) else ()

    @property
    def is_cdylib(self) -> bool:
        return "cdylib" in self.crate_types

    def panics_abort(self, profile: str = "release") -> bool:
        found = self.panic.get(profile)
        return found is not None and found.value == "abort"

    def dependency(self, package: str, section: str = "dependencies") -> Dependency | None:
        """By published name, then by the name used."""
        found = [dependency for dependency in self.dependencies if dependency.section == section]
        return next((item for item in found if item.package == package), None)


@dataclass(frozen=True, slots=True)
class Target:
    """The cutile version that a crate is written against. ``is_known`` False: nothing names one, so it is the oldest."""

    version: Version
    is_known: bool
    is_exact: bool = False
    place: Place | None = None


def target_version(manifest: Manifest | None, workspace: Manifest | None = None, package: str = "cutile") -> Target:
    """The oldest version that the crate's requirement allows. ``workspace``: the manifest of the workspace's root, which the
    caller finds when the crate inherits (``cutile.workspace = true``)."""
    found = manifest.dependency(package) if manifest is not None else None
    if found is not None and found.is_inherited:
        root = workspace or manifest
        found = root.dependency(package, "workspace.dependencies") if root is not None else None
    if found is None:
        return Target(OLDEST, False)
    lowest = found.requirement.lowest if found.requirement else None
    if lowest is not None:
        return Target(lowest, True, found.is_exact, found.version.place if found.version else found.place)
    tagged = Version.parse(str(found.tag.value)) if found.tag else None
    if tagged is not None and found.tag is not None:
        return Target(tagged, True, True, found.tag.place)
    return Target(OLDEST, False, place=found.place)


def read_manifest(source: Source) -> Manifest:
    """Read a ``Cargo.toml``. Never raises: malformed TOML is a fault with its place, an odd field is left out."""
    manifest = Manifest(source)
    data, fault = _load(source)
    if fault is not None:
        manifest.faults.append(fault)
        return manifest
    read = _Reader(source, data, key_places(source))
    manifest.package_name = read.setting("package", "name")
    manifest.package_version = read.setting("package", "version")
    manifest.edition = read.setting("package", "edition") or read.setting("workspace", "package", "edition")
    manifest.lib_name = read.setting("lib", "name")
    manifest.lib_path = read.setting("lib", "path")
    manifest.crate_type = read.setting("lib", "crate-type") or read.setting("lib", "crate_type")
    manifest.is_workspace = isinstance(data.get("workspace"), dict)
    members = read.value("workspace", "members")
    manifest.members = tuple(str(item) for item in members) if isinstance(members, list) else ()
    for profile in read.table("profile"):
        panic = read.setting("profile", profile, "panic")
        if panic is not None:
            manifest.panic[profile] = panic
    manifest.dependencies = list(_dependencies(read))
    return manifest


def _load(source: Source) -> tuple[dict[str, object], Fault | None]:
    if told := toml_refusal(source.data, MAX_SIZE):
        return {}, Fault(Span(0, 0), told)
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        return tomllib.loads(source.text.removeprefix("\ufeff")), None
    except RecursionError:
        return {}, Fault(Span(0, 0), "TOML nests too deep")
    except ValueError as error:
        found = _LINE.search(str(error))
        at = source.offset(int(found.group(1)), int(found.group(2))) if found else len(source.data)
        message = str(error).split(" (at ")[0] if found or "end of document" in str(error) else "a number is too long"
        return {}, Fault(Span(at, min(at + 1, len(source.data))), message[:1].lower() + message[1:])


@dataclass(slots=True)
class _Reader:
    source: Source
    data: dict[str, object]
    places: dict[tuple[str, ...], KeyPlace]

    def value(self, *path: str) -> object:
        found: object = self.data
        for key in path:
            found = found.get(key) if isinstance(found, dict) else None
        return found

    def table(self, *path: str) -> dict[str, object]:
        found = self.value(*path)
        return found if isinstance(found, dict) else {}

    def spans(self, *path: str) -> KeyPlace:
        """The place of a path; of a table that only its keys spell out, the first of them."""
        found = self.places.get(path)
        if found is None:
            found = next((place for key, place in self.places.items() if key[: len(path)] == path), None)
        return found or KeyPlace(Span(0, 0), Span(0, 0))

    def place(self, *path: str) -> Place:
        return Place(self.source, self.spans(*path).value)

    def key(self, *path: str) -> Place:
        return Place(self.source, self.spans(*path).key)

    def setting(self, *path: str) -> Setting | None:
        value = self.value(*path)
        # `edition.workspace = true` is settled elsewhere
        return None if value is None or isinstance(value, dict) else Setting(value, self.place(*path), self.key(*path))


def _dependencies(read: _Reader) -> Iterator[Dependency]:
    homes: list[tuple[str, ...]] = [(section,) for section in _SECTIONS]
    homes.append(("workspace", "dependencies"))
    homes.extend(("target", target, section) for target in read.table("target") for section in _SECTIONS)
    for home in homes:
        # what a target adds is a dependency like others
        section = home[-1] if home[0] == "target" else ".".join(home)
        for name, value in read.table(*home).items():
            yield _dependency(read, (*home, name), name, section, value)


def _dependency(read: _Reader, path: tuple[str, ...], name: str, section: str, value: object) -> Dependency:
    dependency = Dependency(name, name, section, read.place(*path), read.key(*path))
    if isinstance(value, str):
        dependency.version = Setting(value, dependency.place, dependency.key)
    elif isinstance(value, dict):
        dependency.version = read.setting(*path, "version")
        dependency.path = read.setting(*path, "path")
        dependency.git = read.setting(*path, "git")
        dependency.tag = read.setting(*path, "tag")
        dependency.is_inherited = value.get("workspace") is True
        package, features = value.get("package"), value.get("features")
        dependency.package = package if isinstance(package, str) else name
        dependency.features = tuple(str(item) for item in features) if isinstance(features, list) else ()
    if dependency.version is not None and isinstance(dependency.version.value, str):
        dependency.requirement = Requirement.parse(dependency.version.value)
    return dependency
