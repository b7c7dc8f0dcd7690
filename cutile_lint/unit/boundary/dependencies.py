"""Dependencies of the unit's crate that are not fixed to one version."""

from __future__ import annotations

from collections.abc import Iterator

from cutile_lint.frontends.manifest import Dependency, Manifest


def unpinned(manifest: Manifest) -> Iterator[tuple[Dependency, str]]:
    """Crates of cutile and CUDA without an exact version, each with what is wrong."""
    for one in manifest.dependencies:
        if not one.package.replace("_", "-").startswith(("cutile", "cuda-")) or one.section == "dev-dependencies":
            continue
        if one.path is not None:
            yield one, "comes from a path"
        elif one.git is not None:
            yield one, "comes from a repository"
        elif one.requirement is not None and one.requirement.exact is None:
            yield one, f"may be any version that `{one.requirement.text}` allows"
