"""``dataclass`` for a program that starts often: the same classes, generated when they are first used.

The standard decorator compiles four or more functions per class and builds its signature, before anyone makes an instance; a
check of one op knows nearly three hundred such classes and uses a third of them. This one takes the same arguments (those that are
used here) and makes classes that behave the same; the standard functions (``fields``, ``replace``, ``asdict``) know them too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass, field, replace
else:
    #: instances of a class before its constructor is generated
    _FEW = 8
    _ABSENT = type("absent", (), {"__repr__": lambda self: "<absent>"})()

    class _Field:
        """What ``field(…)`` says about a field."""

        __slots__ = ("compare", "default", "default_factory", "init", "repr")

        def __init__(self, default=_ABSENT, default_factory=_ABSENT, init=True, compare=True, repr=True):
            self.default = default
            self.default_factory = default_factory
            self.init = init
            self.compare = compare
            self.repr = repr

    def field(*, default=_ABSENT, default_factory=_ABSENT, init=True, compare=True, repr=True):
        return _Field(default, default_factory, init, compare, repr)

    def dataclass(cls=None, /, *, frozen=False, slots=False, eq=True):
        if cls is None:
            return lambda made: _made(made, frozen, slots, eq)
        return _made(cls, frozen, slots, eq)

    def replace(record, /, **changes):
        """A copy with some fields changed."""
        for name, item in type(record).__record_fields__.items():
            if item.init and name not in changes:
                changes[name] = getattr(record, name)
        return type(record)(**changes)

    def _made(cls: type, frozen: bool, slots: bool, eq: bool) -> type:
        fields: dict[str, _Field] = {}
        for base in reversed(cls.__mro__[1:]):
            fields.update(base.__dict__.get("__record_fields__", ()))
        own = [name for name, kind in cls.__annotations__.items() if not str(kind).startswith(("ClassVar", "typing.ClassVar"))]
        body = dict(cls.__dict__)
        for name in own:
            default = body.get(name, _ABSENT)
            fields[name] = default if isinstance(default, _Field) else _Field(default)
        added: dict[str, Any] = {
            "__record_fields__": fields,
            "__dataclass_fields__": _StandardFields(),
            "__dataclass_params__": _Parameters(frozen),
            "__match_args__": tuple(name for name, item in fields.items() if item.init),
        }
        whole: list[type] = []
        for name, make in (("__init__", _init), ("__eq__", _eq), ("__hash__", _hash)):
            if name in body and (name != "__hash__" or body[name] is not None):
                continue
            if name == "__init__" or eq:
                if name == "__hash__" and (not frozen or ("__eq__" in body)):
                    if "__eq__" not in body:
                        added[name] = None
                    continue
                made_late = _after_a_few if name == "__init__" else _at_first_use
                added[name] = made_late(name, make, whole, frozen, slots)
        if "__repr__" not in body:
            added["__repr__"] = _repr
        if frozen:
            added["__setattr__"] = added["__delattr__"] = _refuse
        if not slots:
            for name in own:
                item = fields[name]
                if item.default is not _ABSENT:
                    added[name] = item.default
                elif isinstance(body.get(name), _Field):
                    delattr(cls, name)
            for name, value in added.items():
                setattr(cls, name, value)
            whole.append(cls)
            return cls
        inherited = {name for base in cls.__mro__[1:] for name in base.__dict__.get("__record_fields__", ())}
        body = {name: value for name, value in body.items() if name not in fields and name not in ("__dict__", "__weakref__")}
        added["__slots__"] = tuple(name for name in own if name not in inherited)
        if frozen:
            added["__getstate__"], added["__setstate__"] = _get_state, _set_state
        made = type(cls)(cls.__name__, cls.__bases__, {**body, **added})
        made.__qualname__ = cls.__qualname__
        whole.append(made)
        return made

    def _at_first_use(name, make, whole, frozen, slots):
        """A function that makes the class's own one when it is called for the first time, and puts it in its own place."""

        def stand_in(self, *values, **named):
            function = make(whole[0], frozen, slots)
            type.__setattr__(whole[0], name, function)
            return function(self, *values, **named)

        stand_in.__name__ = name
        return stand_in

    def _after_a_few(name, make, whole, frozen, slots):
        """A constructor for a class that has few instances, as most have: making one of its own costs as much as forty of them."""
        left = _FEW

        def stand_in(self, *values, **named):
            nonlocal left
            left -= 1
            if left < 0 or not _filled(self, whole[0], values, named):
                function = make(whole[0], frozen, slots)
                type.__setattr__(whole[0], name, function)
                return function(self, *values, **named)

        stand_in.__name__ = name
        return stand_in

    def _filled(self, cls, values, named):
        """Set the fields; False, with nothing that lasts, for a call that the constructor is to refuse."""
        fields = cls.__record_fields__
        given = {**dict(zip(cls.__match_args__, values, strict=False)), **named}
        if len(given) < len(values) + len(named) or not given.keys() <= set(cls.__match_args__):
            return False
        for key, item in fields.items():
            if key in given:
                value = given[key]
            elif item.default_factory is not _ABSENT:
                value = item.default_factory()
            elif item.default is not _ABSENT:
                value = item.default
            elif item.init:
                return False
            else:
                continue
            object.__setattr__(self, key, value)
        if hasattr(cls, "__post_init__"):
            self.__post_init__()
        return True

    def _init(cls, frozen, slots):
        names: dict[str, Any] = {"absent": _ABSENT}
        parameters, lines = ["self"], []
        for name, item in cls.__record_fields__.items():
            value = name
            if item.default_factory is not _ABSENT:
                names[f"make_{name}"] = item.default_factory
                value = f"make_{name}()" if not item.init else f"make_{name}() if {name} is absent else {name}"
            if item.init:
                default = ""
                if item.default_factory is not _ABSENT:
                    default = "=absent"
                elif item.default is not _ABSENT:
                    names[f"default_{name}"] = item.default
                    default = f"=default_{name}"
                parameters.append(name + default)
            elif item.default_factory is _ABSENT:
                if item.default is _ABSENT:
                    continue
                names[f"default_{name}"] = item.default
                value = f"default_{name}"
            if frozen:
                names[f"set_{name}"] = getattr(cls, name).__set__ if slots else None
                lines.append(f"set_{name}(self, {value})" if slots else f"set_(self, {name!r}, {value})")
            else:
                lines.append(f"self.{name} = {value}")
        if hasattr(cls, "__post_init__"):
            lines.append("self.__post_init__()")
        names["set_"] = object.__setattr__
        return _function("__init__", parameters, lines or ["pass"], names)

    def _eq(cls, frozen, slots):
        compared = [name for name, item in cls.__record_fields__.items() if item.compare]
        mine = "".join(f"self.{name}, " for name in compared)
        theirs = "".join(f"other.{name}, " for name in compared)
        lines = ["if other.__class__ is not self.__class__:", "    return NotImplemented", f"return ({mine}) == ({theirs})"]
        return _function("__eq__", ["self", "other"], lines, {})

    def _hash(cls, frozen, slots):
        mine = "".join(f"self.{name}, " for name, item in cls.__record_fields__.items() if item.compare)
        return _function("__hash__", ["self"], [f"return hash(({mine}))"], {})

    def _function(name, parameters, lines, names):
        exec(f"def {name}({', '.join(parameters)}):\n" + "".join(f"    {line}\n" for line in lines), names)
        return names[name]

    def _repr(self):
        shown = (f"{name}={getattr(self, name)!r}" for name, item in self.__record_fields__.items() if item.repr)
        return f"{type(self).__qualname__}({', '.join(shown)})"

    def _refuse(self, name, *value):
        from dataclasses import FrozenInstanceError

        raise FrozenInstanceError(f"cannot assign to field {name!r}" if value else f"cannot delete field {name!r}")

    def _get_state(self):
        return [getattr(self, name) for name in self.__record_fields__]

    def _set_state(self, state):
        for name, value in zip(self.__record_fields__, state, strict=True):
            object.__setattr__(self, name, value)

    class _Parameters:
        """What a standard dataclass wants to know of its base."""

        def __init__(self, frozen):
            self.frozen = frozen

    class _StandardFields:
        """The fields as the standard library describes them, when somebody asks."""

        def __get__(self, instance, owner):
            import dataclasses

            found = {}
            for name, item in owner.__record_fields__.items():
                options = {"init": item.init, "compare": item.compare, "repr": item.repr, "kw_only": False}
                if item.default is not _ABSENT:
                    options["default"] = item.default
                if item.default_factory is not _ABSENT:
                    options["default_factory"] = item.default_factory
                made = found[name] = dataclasses.field(**options)
                made.name, made._field_type = name, dataclasses._FIELD
                made.type = next(
                    (base.__annotations__[name] for base in owner.__mro__ if name in vars(base).get("__annotations__", ())), Any
                )
            return found
