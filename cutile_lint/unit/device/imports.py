"""What names a device module has in scope."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cutile_lint.findings import Edit, Fix
from cutile_lint.frontends import syntax
from cutile_lint.records import dataclass
from cutile_lint.sources import Place, Source
from cutile_lint.unit.device.types import device_modules

if TYPE_CHECKING:
    from cutile_lint.unit.model import KernelUnit

NAME = "PartitionMut"
METHOD = "partition_full_mut"


@dataclass(frozen=True, slots=True)
class MissingImport:
    place: Place
    fix: Fix | None


def missing_partition_imports(unit: KernelUnit) -> list[MissingImport]:
    """The first ``partition_full_mut`` of each device module that has no ``PartitionMut`` in scope."""
    return unit.crate.once(missing_partition_imports, lambda: list(_missing_partition_imports(unit)))


def _missing_partition_imports(unit: KernelUnit) -> Iterator[MissingImport]:
    for module, source in device_modules(unit):
        imports = [node for node in module.walk() if isinstance(node, syntax.Import)]
        names = [name for node in imports for name in node.names]
        if any(name.name in ("*", NAME) or name.alias == NAME for name in names) or _defines(module):
            continue
        called = next((node for node in module.walk() if isinstance(node, syntax.Call) and _is_method(node)), None)
        if called is not None and isinstance(called.func, (syntax.Attr, syntax.Name)):
            func = called.func
            span = func.name_span if isinstance(func, syntax.Attr) else func.span
            yield MissingImport(Place(source, span), _fix(module, source, imports))


def _is_method(node: syntax.Call) -> bool:
    func = node.func
    return (isinstance(func, syntax.Attr) and func.name == METHOD) or (isinstance(func, syntax.Name) and func.last == METHOD)


def _defines(module: syntax.ModuleDef) -> bool:
    return any(isinstance(node, syntax.ClassDef) and node.name == NAME for node in module.walk())


def _fix(module: syntax.ModuleDef, source: Source, imports: list[syntax.Import]) -> Fix | None:
    from cutile_lint.frontends.rust.rewrite import insert_after

    own = [node for node in imports if node in (module.body or [])]
    from_core = any(name.module.startswith("cutile::core") for node in own for name in node.names)
    text = f"use cutile::{'core' if from_core else 'prelude'}::{NAME};"
    if own:
        edit = insert_after(source, own[-1].span, text)
    else:
        text_of_it = source.part(*module.span)
        brace = text_of_it.find(b"{", text_of_it.find(b"mod "))
        if brace == -1:
            return None
        behind = module.span.start + brace + 1
        edit = Edit(source, behind, behind, f"{source.newline}    {text}")
    return Fix(f"import `{NAME}`", (edit,))
