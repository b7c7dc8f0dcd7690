"""Operations from tokens: results, name, operands, settings, types, regions.

Printers put one operation on a line; a line goes on when it starts with punctuation or with a ``name =`` setting. What does not
read as an operation is skipped to the next line (the parser's own errors are reported by :mod:`tokens`).
"""

from __future__ import annotations

from cutile_lint.frontends.ir.facts import Hints, HintValue, IrOp, IrParam, Operand
from cutile_lint.frontends.ir.tokens import Token
from cutile_lint.frontends.ir.types import IrType, is_type_name, plain, read_type
from cutile_lint.records import dataclass, field
from cutile_lint.sources import Span

OPEN = frozenset("<([{")
CLOSE = frozenset(">)]}")
MAX_REGIONS = 100
_END = Token("end", "", 0, 0, True)


@dataclass(slots=True)
class Reader:
    """Reads ``tokens`` once. ``data`` is the text they come from."""

    tokens: list[Token]
    data: bytes
    position: int = 0
    #: innermost last: name → the operation or parameter that defines it
    scopes: list[dict[str, IrOp | IrParam]] = field(default_factory=lambda: [{}])
    #: entry operation → its parameters
    params: dict[int, list[IrParam]] = field(default_factory=dict)

    def peek(self, ahead: int = 0) -> Token:
        index = self.position + ahead
        return self.tokens[index] if index < len(self.tokens) else _END

    def read(self) -> list[IrOp]:
        """All operations of the text; stray closing brackets are passed over."""
        ops: list[IrOp] = []
        while self.peek().kind != "end":
            ops.extend(self.region(None))
            self.position += 1
        return ops

    def region(self, parent: IrOp | None) -> list[IrOp]:
        """Operations up to the region's ``}`` (not taken) or the text's end."""
        ops: list[IrOp] = []
        while self.peek().kind not in ("}", "end"):
            if self.peek().kind == "label":
                self.block_label()
                continue
            op = self.operation(parent)
            if op is None:
                self.skip_line()
            else:
                ops.append(op)
        return ops

    def skip_line(self) -> None:
        """At least one token; a bracketed group is passed over whole."""
        while True:
            token = self.peek()
            if token.kind in OPEN:
                self.group()
            else:
                self.position += 1
            if self.peek().kind in ("end", "}") or self.peek().first:
                return

    def group(self) -> list[Token]:
        """The tokens between the bracket here and its partner; both are taken."""
        depth, start = 0, self.position + 1
        while self.peek().kind != "end":
            kind = self.peek().kind
            self.position += 1
            depth += (kind in OPEN) - (kind in CLOSE)
            if depth == 0:
                return self.tokens[start : self.position - 1]
        return self.tokens[start:]

    def block_label(self) -> None:
        self.position += 1
        if self.peek().kind == "(":
            self.declare(self.group())
        if self.peek().kind == ":":
            self.position += 1

    def declare(self, tokens: list[Token]) -> list[IrParam]:
        """``%a: type, %b: type`` as parameters of the innermost scope."""
        params: list[IrParam] = []
        for index, token in enumerate(tokens):
            if token.kind == "value" and tokens[index + 1 : index + 2] and tokens[index + 1].kind == ":":
                types = Header(self, tokens[index + 2 :]).types(one=True)
                end = types[0].span.end if types else token.end
                param = IrParam(token.text, types[0] if types else None, Span(token.start, end))
                self.scopes[-1][token.text] = param
                params.append(param)
        return params

    def operation(self, parent: IrOp | None) -> IrOp | None:
        start = self.position
        results: list[str] = []
        while self.peek().kind == "value":
            results.append(self.peek().text.split(":")[0])
            self.position += 1
            if self.peek().kind == ",":
                self.position += 1
        if results:
            if self.peek().kind != "=":
                self.position = start
                return None
            self.position += 1
        name = self.peek()
        if name.kind not in ("word", "string") or not (name.text[:1].isalpha() or name.kind == "string"):
            self.position = start
            return None
        self.position += 1
        header = self.header()
        end = header[-1].end if header else name.end
        op = IrOp(
            plain(name.text.strip('"')),
            Span(self.tokens[start].start, end),
            Span(name.start, name.end),
            tuple(results),
            parent=parent,
        )
        scope: dict[str, IrOp | IrParam] = {}
        Header(self, header).fill(op, scope)
        self.regions(op, scope)
        for result in results:
            self.scopes[-1][result] = op
        return op

    def header(self) -> list[Token]:
        """The tokens of the operation up to its region or the next operation."""
        start = self.position
        while self.peek().kind not in ("end", "}", "label"):
            token = self.peek()
            if token.kind == "{" and self.opens_region():
                break
            if token.first and not self.goes_on():
                break
            if token.kind in OPEN:
                self.group()
            else:
                self.position += 1
        return self.tokens[start : self.position]

    def goes_on(self) -> bool:
        """The token that starts this line belongs to the operation above."""
        kind = self.peek().kind
        if kind in ("value", "word", "string"):
            return kind == "word" and self.peek(1).kind == "=" and self.peek().text != "else"
        return True

    def opens_region(self) -> bool:
        """A ``{`` that is no attribute dictionary."""
        following = self.peek(1)
        if following.first or following.kind in ("label", "value", "end"):
            return True
        return following.kind == "word" and self.peek(2).kind not in ("=", ",", "}")

    def regions(self, op: IrOp, scope: dict[str, IrOp | IrParam]) -> None:
        while self.peek().kind == "{" or (self.peek().text == "else" and self.peek(1).kind == "{"):
            self.position += 1 if self.peek().kind == "{" else 2
            if len(self.scopes) > MAX_REGIONS:
                self.position -= 1
                self.group()
                continue
            self.scopes.append(dict(scope))
            op.regions.append(self.region(op))
            self.scopes.pop()
            if self.peek().kind == "}":
                self.position += 1

    def operand(self, token: Token) -> Operand:
        name = token.text.split("#")[0]
        for scope in reversed(self.scopes):
            found = scope.get(name)
            if found is not None:
                span = Span(token.start, token.end)
                if isinstance(found, IrOp):
                    return Operand(token.text, span, producer=found)
                return Operand(token.text, span, param=found)
        return Operand(token.text, Span(token.start, token.end))


@dataclass(slots=True)
class Header:
    """One operation's tokens behind its name."""

    reader: Reader
    tokens: list[Token]
    position: int = 0

    def peek(self, ahead: int = 0) -> Token:
        index = self.position + ahead
        return self.tokens[index] if index < len(self.tokens) else _END

    def group(self) -> list[Token]:
        depth, start = 0, self.position + 1
        while self.peek().kind != "end":
            kind = self.peek().kind
            self.position += 1
            depth += (kind in OPEN) - (kind in CLOSE)
            if depth == 0:
                return self.tokens[start : self.position - 1]
        return self.tokens[start:]

    def fill(self, op: IrOp, scope: dict[str, IrOp | IrParam]) -> None:
        """Operands and settings up to the first ``:`` or ``->``, then types. ``scope`` gets what the op's regions may name."""
        words: list[str] = []
        lists: list[tuple[object, ...]] = []
        while self.peek().kind not in ("end", ":", "->"):
            token = self.peek()
            if token.kind == "value":
                self.value(op, token)
            elif token.kind == "symbol":
                op.symbol, self.position = token.text[1:], self.position + 1
            elif token.kind == "word":
                self.word(op, token, words, scope)
            elif token.kind == "(":
                self.parentheses(op, scope)
            elif token.kind == "[":
                self.brackets(op, lists)
            elif token.kind == "{":
                op.attributes.update({name: found.value for name, found in dictionary(self.group()).items()})
            elif token.kind == "<":
                self.group()
            else:
                self.position += 1
        op.modifiers, op.lists = tuple(words), tuple(lists)
        self.signature(op, scope)

    def value(self, op: IrOp, token: Token) -> None:
        self.position += 1
        if op.name == "for" and self.peek().text == "in" and not op.induction:
            op.induction = token.text
        else:
            op.operands.append(self.reader.operand(token))

    def word(self, op: IrOp, token: Token, words: list[str], scope: dict[str, IrOp | IrParam]) -> None:
        self.position += 1
        name = plain(token.text)
        if self.peek().kind == "=":
            self.position += 1
            if name == "optimization_hints":
                self.hints(op, token)
            elif self.peek().kind != "value":  # `token = %0` is an operand
                op.attributes[name] = self.setting()
        elif name == "iter_values" and self.peek().kind == "(":
            self.carried(op, scope)
        elif name == "rounding":
            inner = self.group() if self.peek().kind == "<" else [self.peek()]
            op.rounding = inner[0].text if inner else ""
        elif self.peek().kind == "<" and is_type_name(token.text):
            self.group()
        else:
            words.append(name)

    def setting(self) -> object:
        token = self.peek()
        if token.kind == "[":
            return entries(self.group())
        if token.kind in OPEN:
            group = self.group()
            return " ".join(inner.text for inner in group)
        self.position += 1
        return literal(token)

    def hints(self, op: IrOp, keyword: Token) -> None:
        if self.peek().kind == "word":  # `#cuda_tile.optimization_hints`
            self.position += 1
        if self.peek().kind not in ("<", "{"):
            return
        inner = self.group()
        end = self.tokens[self.position - 1].end
        op.hints = Hints(Span(keyword.start, end), hint_tables(inner))

    def parentheses(self, op: IrOp, scope: dict[str, IrOp | IrParam]) -> None:
        inner = self.group()
        if op.name == "entry":
            self.reader.scopes.append(scope)
            self.reader.params[id(op)] = self.reader.declare(inner)
            self.reader.scopes.pop()
            return
        op.operands.extend(self.reader.operand(token) for token in inner if token.kind == "value")

    def brackets(self, op: IrOp, lists: list[tuple[object, ...]]) -> None:
        inner = self.group()
        values = [token for token in inner if token.kind == "value"]
        if values:
            op.operands.extend(self.reader.operand(token) for token in values)
        else:
            lists.append(entries(inner))

    def carried(self, op: IrOp, scope: dict[str, IrOp | IrParam]) -> None:
        inner = self.group()
        for name, equals, start in zip(inner, inner[1:], inner[2:], strict=False):
            if name.kind == "value" and equals.kind == "=" and start.kind == "value":
                op.carried[name.text] = self.reader.operand(start)
                scope[name.text] = IrParam(name.text, None, Span(name.start, name.end))

    def signature(self, op: IrOp, scope: dict[str, IrOp | IrParam]) -> None:
        """The types behind the first ``:`` or ``->``; with only one side, it is the result's (and the operands')."""
        left: list[IrType] = []
        right: list[IrType] | None = None
        while self.peek().kind != "end":
            token = self.peek()
            if token.kind == "->":
                right, self.position = [], self.position + 1
            elif token.kind == "word" and plain(token.text) == "iter_values":
                self.position += 1
                self.carried(op, scope)
            elif token.kind == "(" and self.peek(1).kind == "value":  # a region's arguments, printed before its brace
                self.reader.scopes.append(scope)
                self.reader.declare(self.group())
                self.reader.scopes.pop()
            elif token.kind == "word" and plain(token.text) == "optimization_hints" and self.peek(1).kind == "=":
                self.position += 2
                self.hints(op, token)
            elif token.kind == "{":
                op.attributes.update({name: found.value for name, found in dictionary(self.group()).items()})
            elif token.kind == "word" and is_type_name(token.text):
                (left if right is None else right).extend(self.types(one=True))
            else:
                self.position += 1
        op.operand_types = tuple(left)
        op.result_types = tuple(right) if right is not None else tuple(left[2:3] if op.name.startswith("mma") else left)
        if op.induction:
            scope[op.induction] = IrParam(op.induction, left[0] if left else None, op.span)

    def types(self, one: bool = False) -> list[IrType]:
        """The types from here on (or the first only)."""
        found: list[IrType] = []
        while self.peek().kind == "word" and is_type_name(self.peek().text):
            start = self.peek()
            self.position += 1
            end = start.end
            if self.peek().kind == "<":
                self.group()
                end = self.tokens[self.position - 1].end
            text = self.reader.data[start.start : end].decode("utf-8", "replace")
            found.append(read_type(text, start.start))
            if one or self.peek().kind != ",":
                break
            self.position += 1
        return found


def literal(token: Token) -> object:
    """A setting's value: int, bool, or its text (without quotes)."""
    text = token.text
    if text in ("true", "false"):
        return text == "true"
    if text.lstrip("-").isascii() and text.lstrip("-").isdigit() and len(text) <= 18:
        return int(text)
    return text.strip('"')


def entries(tokens: list[Token]) -> tuple[object, ...]:
    """The elements of ``[1, %x, 0.0 : f32]``; an element's type is dropped."""
    result: list[object] = []
    fresh = True
    for token in tokens:
        if token.kind == ",":
            fresh = True
        elif fresh:
            result.append(literal(token))
            fresh = False
    return tuple(result)


def dictionary(tokens: list[Token]) -> dict[str, HintValue]:
    """``name = value, …``; a bare name is True."""
    result: dict[str, HintValue] = {}
    index = 0
    while index < len(tokens):
        token = tokens[index]
        index += 1
        if token.kind not in ("word", "string"):
            continue
        name = token.text.strip('"')
        if index + 1 < len(tokens) and tokens[index].kind == "=":
            value = tokens[index + 1]
            result[name] = HintValue(literal(value), Span(token.start, value.end))
            index += 2
            while index < len(tokens) and tokens[index].kind != ",":
                index += 1
        else:
            result[name] = HintValue(True, Span(token.start, token.end))
    return result


def hint_tables(tokens: list[Token]) -> dict[str, dict[str, HintValue]]:
    """``sm_100 = {num_cta_in_cga = 2}, default = {}``; loose hints count for every architecture."""
    tables: dict[str, dict[str, HintValue]] = {}
    index = 0
    while index < len(tokens):
        token = tokens[index]
        if token.kind == "word" and index + 2 < len(tokens) and tokens[index + 1].kind == "=":
            if tokens[index + 2].kind == "{":
                end = next((at for at in range(index + 3, len(tokens)) if tokens[at].kind == "}"), len(tokens))
                tables.setdefault(token.text, {}).update(dictionary(tokens[index + 3 : end]))
                index = end
            else:
                tables.setdefault("default", {}).update(dictionary(tokens[index : index + 3]))
                index += 2
        index += 1
    return tables
