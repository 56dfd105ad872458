"""The fifth pass: a checked program to what BMv2 has names for.

Controls, parsers, functions and actions are inlined, structs taken apart, generics bound, loops
unrolled, and constants folded. What remains is in `flat`.
"""

from pathlib import Path

from p4.compiler import flat, fold, places, tree
from p4.compiler import types as t
from p4.compiler.diagnostics import Diagnostics, Position
from p4.compiler.lower_assign import assign
from p4.compiler.lower_calls import inline, lower_call, lower_control_body
from p4.compiler.lower_context import Context, Frame, Later
from p4.compiler.lower_expressions import place_of
from p4.compiler.lower_externs import flatten_place, lower_extern_call
from p4.compiler.lower_parsers import apply_parser
from p4.compiler.lower_statements import applied_member, lower_statements, make_instance
from p4.compiler.lower_tables import apply_and_go_on, apply_table
from p4.compiler.model import Checked
from p4.compiler.storage import Storage

STANDARD_METADATA = "standard_metadata"
USER_METADATA = "userMetadata"


def lower(checked: Checked, diagnostics: Diagnostics, path: Path) -> flat.Program:
    """Lower a checked program; what v1model or BMv2 does not have goes to `diagnostics`."""
    program = flat.Program(path.name, str(path.parent))
    frame = Frame(None, "")
    ctx = Context(checked, diagnostics, program, Storage(program), _LATER, frame, frame)
    return _blocks_in_order(ctx)


def _blocks_in_order(ctx: Context) -> flat.Program:
    """Lower the six blocks in the order in which a packet meets them."""
    main = ctx.checked.main
    if main is None:
        raise ctx.diagnostics.fail(
            ctx.checked.program.at,
            "there is no package named main",
            "end the program with V1Switch(…) main;",
        )
    _global_instances(ctx)
    blocks = _blocks(ctx, main)
    ctx.program.errors = dict(ctx.checked.errors)
    _enums(ctx)
    arguments = _allocate(ctx, blocks[0])
    ctx.attempt(lambda: _parser_block(ctx, blocks[0], arguments))
    ctx.attempt(lambda: _checksums(ctx, blocks[1], arguments[:2], "checksum verification"))
    ctx.attempt(lambda: _pipeline(ctx, blocks[2], arguments, "ingress"))
    ctx.attempt(lambda: _pipeline(ctx, blocks[3], arguments, "egress"))
    ctx.attempt(lambda: _checksums(ctx, blocks[4], arguments[:2], "checksum update"))
    ctx.attempt(lambda: _deparser(ctx, blocks[5], arguments[0]))
    _check_headers(ctx)
    return ctx.program


# The package


def _blocks(ctx: Context, main: tree.Instance) -> list[places.Object]:
    call = ctx.checked.calls[main]  # type: ignore[index]
    if call.name != "V1Switch":
        raise ctx.unsupported(main.at, f"package {call.name}", "only v1model's V1Switch is")
    blocks: list[places.Object] = []
    for _, value in call.arguments:
        place = place_of(ctx, value) if value is not None else None
        if not isinstance(place, places.Object):
            raise ctx.unsupported(main.at, "this argument of V1Switch")
        blocks.append(place)
    wanted = (tree.Parser, *(tree.Control,) * 5)
    declarations = [block.type.declaration for block in blocks]
    if len(declarations) != len(wanted) or not all(map(isinstance, declarations, wanted)):
        raise ctx.unsupported(main.at, "a V1Switch of other blocks than v1model's")
    return blocks


def _global_instances(ctx: Context) -> None:
    for declaration in ctx.checked.program.declarations:
        if isinstance(declaration, tree.Instance) and declaration is not ctx.checked.main:
            make_instance(ctx, declaration)


def _enums(ctx: Context) -> None:
    for type_ in ctx.checked.declared.values():
        if isinstance(type_, t.Enumeration) and type_.underlying is None:
            entries = tuple((member, index) for index, member in enumerate(type_.members))
            if (type_.name, entries) not in ctx.program.enums:
                ctx.program.enums.append((type_.name, entries))


def _allocate(ctx: Context, block: places.Object) -> list[places.Place]:
    """Make room for the headers, the user's metadata and the standard metadata."""
    declaration = block.type.declaration
    assert isinstance(declaration, tree.Parser)
    types = [ctx.checked.declared[parameter] for parameter in declaration.arguments]
    if len(types) != 4:
        raise ctx.diagnostics.fail(block.at, "V1Switch's parser takes four parameters")
    bindings = dict(zip(declaration.parameters, block.type.arguments, strict=True))
    headers, metadata, standard = (t.substitute(type_, bindings) for type_ in types[1:])
    storage = ctx.storage
    standard_place = _allocate_standard(ctx, standard, storage)
    headers_place: places.Place
    if isinstance(headers, t.Record) and headers.kind == "struct":
        parts = {name: storage.allocate(part, name) for name, part in headers.fields}
        headers_place = places.Struct(headers, parts)
    else:
        headers_place = storage.allocate(headers, "hdr")
    ctx.metadata = storage.allocate(metadata, USER_METADATA)
    return [headers_place, ctx.metadata, standard_place]


def _allocate_standard(ctx: Context, type_: t.Type, storage: Storage) -> places.Place:
    assert isinstance(type_, t.Record)
    shape = storage.header_type(type_)
    ctx.program.header_types[STANDARD_METADATA] = ctx.program.header_types.pop(shape)
    ctx.program.header_types[STANDARD_METADATA].name = STANDARD_METADATA
    name = storage.unique(STANDARD_METADATA)
    ctx.program.headers.append(flat.Instance(name, STANDARD_METADATA, metadata=True))
    fields: dict[str, places.Place] = {
        field: flat.Field(name, field, t.base(part)) for field, part in type_.fields
    }
    _aliases(ctx, type_, fields)
    return places.Struct(type_, fields)


def _aliases(ctx: Context, type_: t.Record, fields: dict[str, places.Place]) -> None:
    declaration = _composite(ctx, type_.name)
    for field in declaration.fields if declaration else ():
        alias = tree.annotation(field, "alias")
        place = fields[field.name]
        if alias and isinstance(place, flat.Field):
            ctx.program.aliases.append((str(alias.arguments[0]), place))


def _composite(ctx: Context, name: str) -> tree.Composite | None:
    for declaration in ctx.checked.program.declarations:
        if isinstance(declaration, tree.Composite) and declaration.name == name:
            return declaration
    return None


def tagged_fields(ctx: Context, index: int) -> list[flat.Value]:
    """Return the fields of the metadata that are in a field list."""
    found: list[flat.Value] = []
    if isinstance(ctx.metadata, places.Struct):
        _tagged_in(ctx, ctx.metadata, index, found)
    return found


def _tagged_in(ctx: Context, place: places.Struct, index: int, found: list[flat.Value]) -> None:
    name = place.type.name if isinstance(place.type, t.Record) else ""
    declaration = _composite(ctx, name)
    for field in declaration.fields if declaration else ():
        part = place.parts[field.name]
        tag = tree.annotation(field, "field_list")
        if tag and index in _annotation_numbers(ctx, tag):
            found.extend(flatten_place(ctx, part, field.at))
        elif isinstance(part, places.Struct):
            _tagged_in(ctx, part, index, found)


def _annotation_numbers(ctx: Context, tag: tree.Annotation) -> set[int]:
    """Return the numbers in an annotation, written as such or as members of enums."""
    text = ",".join(str(each) for each in tag.arguments).replace(",.,", ".")
    found: set[int] = set()
    for word in text.split(","):
        owner, _, member = word.partition(".")
        declarations = ctx.checked.declared.items()
        types = [type_ for key, type_ in declarations if key.name == owner]
        if word.isdigit():
            found.add(int(word))
        for type_ in types:
            if isinstance(type_, t.Enumeration) and member in type_.members:
                place = type_.members.index(member)
                found.add(type_.values[place] if type_.values else place)
        constants = [
            key.value
            for key, _ in declarations
            if key.name == word and isinstance(key, tree.Constant)
        ]
        found.update(
            ctx.checked.constants[value] for value in constants if value in ctx.checked.constants
        )
    return found


# Blocks


def _run(ctx: Context, block: places.Object, arguments: list[places.Place]) -> flat.Code:
    """Return the code of a block that is given these arguments."""
    declaration = block.type.declaration
    assert isinstance(declaration, tree.Parser | tree.Control)
    frame = Frame(
        ctx.global_frame,
        block.name,
        dict(zip(declaration.parameters, block.type.arguments, strict=True)),
        owner=declaration,
    )
    frame.bindings.update(block.bindings)
    given = arguments
    if len(declaration.arguments) > len(arguments):
        packet = places.Object(_packet_type(ctx, declaration), "packet", block.at)
        given = [packet, *arguments]
    if len(given) != len(declaration.arguments):
        raise ctx.diagnostics.fail(
            declaration.at, f"{declaration.name} does not have the parameters of its block"
        )
    frame.bindings.update(zip(declaration.arguments, given, strict=True))
    ctx.pipeline_exit = ctx.new_label()
    ctx.frame = Frame(ctx.global_frame, "", exit=ctx.pipeline_exit)
    code = ctx.capture(lambda: _run_in(ctx, frame, declaration, declaration.at))
    whole = ctx.capture(lambda: ctx.labelled(ctx.pipeline_exit, code))
    ctx.frame = ctx.global_frame
    return whole


def _run_in(
    ctx: Context, frame: Frame, declaration: tree.Parser | tree.Control, at: Position
) -> None:
    if isinstance(declaration, tree.Control):
        inline(ctx, frame, lambda: lower_control_body(ctx, declaration), [], at)
    else:
        inline(ctx, frame, lambda: apply_parser(ctx, frame, declaration, at), [], at)


def _packet_type(ctx: Context, declaration: tree.Parser | tree.Control) -> t.Object:
    type_ = ctx.checked.declared[declaration.arguments[0]]
    assert isinstance(type_, t.Object)
    return type_


def _parser_block(ctx: Context, block: places.Object, arguments: list[places.Place]) -> None:
    ctx.region = "parser"
    code = _run(ctx, block, arguments)
    ctx.program.parser_at = block.type.declaration.at
    ctx.program.parser = (flat.State("", code, (), (flat.Case(None, None, None, "accept"),)),)


def _pipeline(ctx: Context, block: places.Object, arguments: list[places.Place], name: str) -> None:
    ctx.region = name
    code = _run(ctx, block, arguments)
    ctx.program.pipelines.append(flat.Pipeline(name, code, block.type.declaration.at))


def _checksums(
    ctx: Context, block: places.Object, arguments: list[places.Place], name: str
) -> None:
    ctx.region = name
    _conditions(ctx, _run(ctx, block, arguments), fold.TRUE, name)


def _conditions(ctx: Context, code: flat.Code, condition: flat.Value, name: str) -> None:
    """Give each checksum the condition under which the block reaches it."""
    for statement in code:
        match statement:
            case flat.Do(primitive="checksum", parameters=(flat.Text(text=text),)):
                _add_condition(ctx, text, condition)
            case flat.If():
                yes = fold.join([condition, statement.condition])
                no = fold.join([condition, fold.unary("!", statement.condition)])
                _conditions(ctx, statement.yes, yes, name)
                _conditions(ctx, statement.no, no, name)
            case flat.Labelled():
                _conditions(ctx, statement.body, condition, name)
            case _:
                at = statement.at
                ctx.diagnostics.error(at, f"unsupported: anything but checksums in the {name}")


def _add_condition(ctx: Context, name: str, condition: flat.Value) -> None:
    for index, checksum in enumerate(ctx.program.checksums):
        if checksum.name == name:
            both = fold.join([condition, checksum.condition])
            ctx.program.checksums[index] = flat.Checksum(
                name,
                checksum.target,
                checksum.calculation,
                checksum.update,
                both,
                checksum.at,
            )


def _deparser(ctx: Context, block: places.Object, headers: places.Place) -> None:
    ctx.region = "deparser"
    declaration = block.type.declaration
    ctx.program.deparser_at = declaration.at
    order: list[str] = []
    for statement in _run(ctx, block, [headers]):
        match statement:
            case flat.Do(primitive="emit", parameters=(flat.Reference(name=name),)):
                order.append(name)
            case flat.Assign() if statement.target.header == flat.SCALARS:
                continue
            case _:
                at = statement.at if not isinstance(statement, flat.Labelled) else declaration.at
                ctx.diagnostics.error(
                    at,
                    "unsupported: anything but emit in a deparser",
                    "set the headers valid or invalid in egress instead",
                )
    ctx.program.deparser = tuple(order)


def _check_headers(ctx: Context) -> None:
    """Refuse headers that do not end on a byte."""
    for instance in ctx.program.headers:
        shape = ctx.program.header_types[instance.type]
        bits = sum(t.width(type_, greatest=True) or 0 for _, type_ in shape.fields)
        if not instance.metadata and bits % 8:
            declaration = _composite(ctx, shape.name)
            at = declaration.at if declaration else ctx.checked.program.at
            ctx.diagnostics.error(
                at,
                f"unsupported: header {shape.name} has {bits} bits",
                "a header's fields add up to whole bytes",
            )


_LATER = Later(
    assign=assign,
    lower_call=lower_call,
    lower_extern_call=lower_extern_call,
    tagged_fields=tagged_fields,
    apply_table=apply_table,
    apply_and_go_on=apply_and_go_on,
    apply_parser=apply_parser,
    applied_member=applied_member,
    lower_statements=lower_statements,
)
