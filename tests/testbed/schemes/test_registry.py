"""The registry: complete entries that figures can tell apart."""

import re
from importlib import import_module
from pkgutil import iter_modules

import pytest

from testbed import schemes
from testbed.planning import network
from testbed.scenario import Scenario


def test_names_colours_and_labels_are_distinct() -> None:
    for attribute in ("name", "color", "label", "marker"):
        values = [getattr(scheme, attribute) for scheme in schemes.SCHEMES]
        assert len(set(values)) == len(values), attribute
    assert all(re.fullmatch("#[0-9a-f]{6}", scheme.color) for scheme in schemes.SCHEMES)


def test_every_file_of_a_scheme_is_in_the_registry_and_every_program_in_use() -> None:
    modules = (import_module(f"testbed.schemes.{m.name}") for m in iter_modules(schemes.__path__))
    found = {module.SCHEME.name: module.__name__ for module in modules if hasattr(module, "SCHEME")}
    assert found == {name: f"testbed.schemes.{name}" for name in schemes.names()}
    programs = {path.stem for path in schemes.PROGRAMS.glob("*.p4")}
    assert programs == {scheme.program for scheme in schemes.SCHEMES}


def test_labels_name_their_parameters() -> None:
    assert schemes.label(schemes.find("pofan"), {}) == "4Ofan"
    assert schemes.label(schemes.find("pofan"), {"pipe_ports": 1}) == "1Ofan"
    assert schemes.label(schemes.find("ofan"), {}) == "Ofan"


@pytest.mark.parametrize("scheme", schemes.SCHEMES, ids=lambda scheme: scheme.name)
def test_programs_open_with_the_papers_section_and_deviations(scheme: schemes.Scheme) -> None:
    (parameters,) = schemes.settled((scheme,), {})
    source = schemes.programs(scheme, network(Scenario()), parameters)["edge"]
    head = source.path.read_text(encoding="utf-8").split("\n\n")[0]
    assert head.startswith("// ")
    assert "// Paper: " in head
    assert "// Deviations and choices" in head
    assert source.path.read_text(encoding="utf-8").count("\n") < 250


def test_the_documentation_lists_every_scheme_with_its_parameters() -> None:
    page = (schemes.PROGRAMS.parent.parent / "docs" / "schemes.md").read_text(encoding="utf-8")
    rows = {row.split("`")[1]: row for row in page.splitlines() if row.startswith("| `")}
    assert list(rows) == list(schemes.names())
    for scheme in schemes.SCHEMES:
        assert f"`{scheme.program}`" in rows[scheme.name]
        named = rows[scheme.name].split("|")[5].replace("`", "").replace(",", "").split()
        assert named == [parameter.name for parameter in scheme.parameters]
