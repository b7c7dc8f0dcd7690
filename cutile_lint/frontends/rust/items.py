"""Items: functions, types, impl blocks, modules, imports, constants."""

from __future__ import annotations

from tree_sitter import Node

from cutile_lint.frontends import syntax
from cutile_lint.frontends.rust import parameters
from cutile_lint.frontends.rust.literals import string
from cutile_lint.frontends.rust.reader import COMMENTS, Reader, item, parts
from cutile_lint.frontends.rust.statements import Tail, read_all, read_block


@item("function_item", "function_signature_item")
def _function(reader: Reader, node: Node, found: list[syntax.Attribute]) -> syntax.Stmt:
    name = node.child_by_field_name("name")
    body = node.child_by_field_name("body")
    params = node.child_by_field_name("parameters")
    returns = reader.inline(node.child_by_field_name("return_type"))
    tail = Tail.RETURN if returns else Tail.NOTHING
    modifiers = next((child for child in node.named_children if child.type == "function_modifiers"), None)
    words = [child.type for child in modifiers.children] if modifiers is not None else []
    reader.depth += 1
    function = syntax.Function(
        reader.span(node),
        reader.text(name),
        parameters.read(reader, params) if params is not None else [],
        read_block(reader, body, tail) if body is not None else [],
        attributes=list(found),
        generics=parameters.generics(reader, node),
        returns=returns,
        abi=_abi(reader, modifiers),
        is_async="async" in words,
        is_public=any(child.type == "visibility_modifier" for child in node.children[:2]),
        name_span=reader.span(name) if name is not None else None,
    )
    reader.depth -= 1
    return syntax.FunctionDef(function.span, function)


def _abi(reader: Reader, modifiers: Node | None) -> str:
    """The ABI: ``C`` of ``extern "C"`` and of a bare ``extern``."""
    for child in modifiers.named_children if modifiers is not None else ():
        if child.type == "extern_modifier":
            text = next((below for below in child.named_children if below.type.endswith("string_literal")), None)
            return str(string(reader.text(text))) if text is not None else "C"
    return ""


@item("impl_item", "trait_item", "foreign_mod_item")
def _methods(reader: Reader, node: Node, found: list[syntax.Attribute]) -> syntax.Stmt:
    """``impl`` and ``trait`` blocks; ``extern "C" { … }`` has kind "extern" and the ABI as its name."""
    kind = node.type.partition("_")[0]
    trait = node.child_by_field_name("trait")
    body = node.child_by_field_name("body")
    if kind == "foreign":
        kind, name = "extern", _abi(reader, node)
    else:
        name = _without_generics(reader, node.child_by_field_name("type" if kind == "impl" else "name"))
    bases: list[syntax.Expr] = [syntax.Name(reader.span(trait), reader.inline(trait))] if trait is not None else []
    reader.depth += 1
    made = syntax.ClassDef(
        reader.span(node), name, bases, read_block(reader, body, Tail.NOTHING) if body is not None else [], [], list(found), kind
    )
    reader.depth -= 1
    return made


def _without_generics(reader: Reader, node: Node | None) -> str:
    if node is not None and node.type == "generic_type":
        node = node.child_by_field_name("type")
    return reader.inline(node)


@item("struct_item", "union_item", "enum_item")
def _type(reader: Reader, node: Node, found: list[syntax.Attribute]) -> syntax.Stmt:
    kind = node.type.partition("_")[0]
    body = node.child_by_field_name("body")
    fields: list[syntax.Stmt] = []
    if body is not None:
        fields = _variants(reader, body) if kind == "enum" else _fields(reader, body)
    name = reader.text(node.child_by_field_name("name"))
    return syntax.ClassDef(reader.span(node), name, [], fields, [], list(found), kind)


def _fields(reader: Reader, body: Node) -> list[syntax.Stmt]:
    """Declaring assignments; the fields of a tuple struct are named "0", "1", …"""
    fields: list[syntax.Stmt] = []
    for child in parts(body):
        if child.type == "field_declaration":
            name = child.child_by_field_name("name")
            label = syntax.Name(reader.span(name or child), reader.text(name))
            annotation = reader.inline(child.child_by_field_name("type"))
        elif child.type != "visibility_modifier" and child.type != "ERROR":
            label = syntax.Name(reader.span(child), str(len(fields)))
            annotation = reader.inline(child)
        else:
            continue
        fields.append(syntax.Assign(reader.span(child), [label], None, declares=True, annotation=annotation))
    return fields


def _variants(reader: Reader, body: Node) -> list[syntax.Stmt]:
    """Declaring assignments, with the discriminant as value and the text of the payload as annotation."""
    variants: list[syntax.Stmt] = []
    for child in parts(body):
        name = child.child_by_field_name("name")
        if child.type != "enum_variant" or name is None:
            continue
        value = child.child_by_field_name("value")
        variants.append(
            syntax.Assign(
                reader.span(child),
                [syntax.Name(reader.span(name), reader.text(name))],
                reader.expression(value) if value is not None else None,
                declares=True,
                annotation=reader.inline(child.child_by_field_name("body")),
            )
        )
    return variants


@item("const_item", "static_item")
def _constant(reader: Reader, node: Node, found: list[syntax.Attribute]) -> syntax.Stmt:
    name = node.child_by_field_name("name")
    value = node.child_by_field_name("value")
    return syntax.Assign(
        reader.span(node),
        [syntax.Name(reader.span(name), reader.text(name))] if name is not None else [],
        reader.expression(value) if value is not None else None,
        declares=True,
        annotation=reader.inline(node.child_by_field_name("type")),
        mutable=any(child.type == "mutable_specifier" for child in node.children),
    )


@item("type_item", "associated_type")
def _alias(reader: Reader, node: Node, found: list[syntax.Attribute]) -> syntax.Stmt:
    """``type A = B;`` declares ``A`` with the type's text as a name."""
    name = node.child_by_field_name("name")
    type_node = node.child_by_field_name("type")
    value = syntax.Name(reader.span(type_node), reader.inline(type_node)) if type_node is not None else None
    targets: list[syntax.Expr] = [syntax.Name(reader.span(name), reader.text(name))] if name is not None else []
    return syntax.Assign(reader.span(node), targets, value, declares=True, annotation="type")


@item("mod_item")
def _module(reader: Reader, node: Node, found: list[syntax.Attribute]) -> syntax.Stmt:
    body = node.child_by_field_name("body")
    path = ""
    for attribute in found:
        if attribute.path == "path" and attribute.text.endswith(('"', "#")):
            path = str(string(attribute.text))
    statements: list[syntax.Stmt] | None = None
    if body is not None:
        reader.depth += 1
        statements = read_all(reader, body.named_children)
        reader.depth -= 1
    return syntax.ModuleDef(reader.span(node), reader.text(node.child_by_field_name("name")), statements, list(found), path)


@item("use_declaration")
def _use(reader: Reader, node: Node, found: list[syntax.Attribute]) -> syntax.Stmt:
    argument = node.child_by_field_name("argument")
    names: list[syntax.ImportName] = []
    if argument is not None:
        _flatten(reader, argument, "", names)
    return syntax.Import(reader.span(node), names)


@item("extern_crate_declaration")
def _crate(reader: Reader, node: Node, found: list[syntax.Attribute]) -> syntax.Stmt:
    name = reader.text(node.child_by_field_name("name"))
    alias = reader.text(node.child_by_field_name("alias")) or name
    return syntax.Import(reader.span(node), [syntax.ImportName(reader.span(node), "", name, alias)])


def _flatten(reader: Reader, node: Node, prefix: str, names: list[syntax.ImportName], alias: str = "") -> None:
    """Add one :class:`ImportName` per bound name of a ``use`` tree."""
    kind = node.type
    span = reader.span(node)
    if kind == "use_as_clause":
        path = node.child_by_field_name("path")
        if path is not None:
            _flatten(reader, path, prefix, names, reader.text(node.child_by_field_name("alias")))
            names[-1].span = span
    elif kind == "use_list":
        for child in parts(node):
            _flatten(reader, child, prefix, names)
    elif kind == "scoped_use_list":
        inner = node.child_by_field_name("list")
        if inner is not None:
            _flatten(reader, inner, _join(prefix, reader.inline(node.child_by_field_name("path"))), names)
    elif kind == "use_wildcard":
        below = parts(node)
        module = _join(prefix, reader.inline(below[0])) if below else prefix
        names.append(syntax.ImportName(span, module, "*", "*"))
    elif kind not in COMMENTS:
        path_text = prefix if kind == "self" and prefix else _join(prefix, reader.inline(node))
        module, _, name = path_text.rpartition("::")
        names.append(syntax.ImportName(span, module, name, alias or name))


def _join(prefix: str, path: str) -> str:
    path = path.replace(" ", "").removeprefix("::")
    return f"{prefix}::{path}" if prefix and path else prefix or path
