"""Where a program's variables live: header instances, stacks, unions, and one set of scalars."""

from p4.compiler import flat, places
from p4.compiler import types as t


class Storage:
    """Makes header types and instances, and fields of the scalars, with names of their own."""

    def __init__(self, program: flat.Program) -> None:
        self._program = program
        self._taken: set[str] = set()
        self._counts: dict[str, int] = {}
        self._shapes: dict[t.Record, str] = {}
        self.scalars = flat.HeaderType("scalars_0", [])
        program.header_types["scalars_0"] = self.scalars
        program.headers.append(flat.Instance(flat.SCALARS, "scalars_0", metadata=True))

    def unique(self, name: str) -> str:
        """Return the name, with a number if it is taken."""
        candidate = name
        while candidate in self._taken:
            count = self._counts.get(name, 0)
            self._counts[name] = count + 1
            candidate = f"{name}_{count}"
        self._taken.add(candidate)
        return candidate

    def allocate(self, type_: t.Type, name: str) -> places.Place:  # noqa: PLR0911
        """Make room for a variable."""
        inner = t.base(type_)
        match inner:
            case t.Record(kind="struct"):
                return places.Struct(
                    inner, {key: self.allocate(part, f"{name}.{key}") for key, part in inner.fields}
                )
            case t.Tuple():
                return places.Struct(
                    inner,
                    {
                        str(index): self.allocate(part, f"{name}.{index}")
                        for index, part in enumerate(inner.items)
                    },
                )
            case t.Record(kind="header"):
                return self.header(inner, self.unique(name))
            case t.Record():
                return self.union(inner, self.unique(name))
            case t.Stack():
                return self.stack(inner, self.unique(name))
            case t.Varbit():
                return self._varbit(inner, self.unique(name))
        return self.scalar(type_, name)

    def scalar(self, type_: t.Type, name: str) -> flat.Field:
        """Make a number's field in the scalars."""
        name = self.unique(name)
        self.scalars.fields.append((name, t.base(type_)))
        return flat.Field(flat.SCALARS, name, t.base(type_))

    def _varbit(self, type_: t.Varbit, name: str) -> places.Varbit:
        self.scalars.fields.append((name, type_))
        return places.Varbit(flat.SCALARS, name, type_)

    def header(self, type_: t.Record, name: str, *, metadata: bool = False) -> places.Header:
        """Make a header instance."""
        shape = self.header_type(type_)
        self._program.headers.append(flat.Instance(name, shape, metadata))
        return places.Header(type_, name)

    def union(self, type_: t.Record, name: str) -> places.Union:
        """Make a header union with an instance for each of its members."""
        members = []
        for key, part in type_.fields:
            assert isinstance(part, t.Record)
            members.append(self.header(part, f"{name}.{key}"))
        self._union_type(type_)
        names = tuple(member.name for member in members)
        self._program.unions.append(flat.Group(name, type_.name, names))
        return places.Union(type_, name, tuple(members))

    def _union_type(self, type_: t.Record) -> None:
        if type_.name not in self._program.union_types:
            members = []
            for key, part in type_.fields:
                assert isinstance(part, t.Record)
                members.append((key, self.header_type(part)))
            self._program.union_types[type_.name] = tuple(members)

    def stack(self, type_: t.Stack, name: str) -> places.Stack:
        """Make a stack with an instance for each element."""
        element = type_.element
        assert isinstance(element, t.Record)
        elements: list[places.Header | places.Union] = []
        for index in range(type_.size):
            each = f"{name}[{index}]"
            is_union = element.kind == "header_union"
            elements.append(self.union(element, each) if is_union else self.header(element, each))
        names = tuple(each.name for each in elements)
        if element.kind == "header_union":
            self._program.union_stacks.append(flat.Group(name, element.name, names))
        else:
            shape = self.header_type(element)
            self._program.stacks.append(flat.Group(name, shape, names))
        return places.Stack(type_, name, tuple(elements))

    def header_type(self, type_: t.Record) -> str:
        """Return the name of a header's type, making it if it is new."""
        if type_ not in self._shapes:
            name = str(type_)
            while name in self._program.header_types:
                name += "_"
            shape = flat.HeaderType(name, flatten(type_))
            self._program.header_types[name] = shape
            self._shapes[type_] = name
        return self._shapes[type_]


def flatten(type_: t.Record, prefix: str = "") -> list[tuple[str, t.Type]]:
    """Return a header's fields with the structs in it taken apart: (path, type) pairs."""
    found: list[tuple[str, t.Type]] = []
    for name, part in type_.fields:
        inner = t.base(part)
        if isinstance(inner, t.Record):
            found.extend(flatten(inner, f"{prefix}{name}."))
        else:
            found.append((prefix + name, inner))
    return found


def field_of(header: str, path: str, type_: t.Type) -> places.Place:
    """Return the place of a header's field, a struct of places for a field that is a struct."""
    inner = t.base(type_)
    if isinstance(inner, t.Record):
        return places.Struct(
            inner, {name: field_of(header, f"{path}.{name}", part) for name, part in inner.fields}
        )
    if isinstance(inner, t.Varbit):
        return places.Varbit(header, path, inner)
    return flat.Field(header, path, inner)
