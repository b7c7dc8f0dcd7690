"""Dependencies of the unit's crate that are not fixed to one version."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cutile_lint.frontends.manifest import Dependency, Manifest
from cutile_lint.unit.linking.names import fits


def unpinned(manifest: Manifest, crates: Sequence[str], local: bool = False) -> Iterator[tuple[Dependency, str]]:
    """Crates (patterns of names) without an exact version, each with what is wrong; ``local``: a path is as good as a version."""
    for one in manifest.dependencies:
        if not fits(one.package.replace("_", "-"), crates) or one.section == "dev-dependencies":
            continue
        if one.path is not None:
            if not local:
                yield one, "comes from a path"
        elif one.git is not None:
            yield one, "comes from a repository"
        elif one.requirement is not None and one.requirement.exact is None:
            yield one, f"may be any version that `{one.requirement.text}` allows"
