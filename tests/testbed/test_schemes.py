"""The registry: complete entries that figures can tell apart."""

import re

import pytest

from testbed import schemes
from testbed.planning import network
from testbed.scenario import Scenario


def test_names_colours_and_labels_are_distinct() -> None:
    for attribute in ("name", "color", "label", "marker"):
        values = [getattr(scheme, attribute) for scheme in schemes.SCHEMES]
        assert len(set(values)) == len(values), attribute
    assert all(re.fullmatch("#[0-9a-f]{6}", scheme.color) for scheme in schemes.SCHEMES)


def test_the_schemes_of_table_1_are_there() -> None:
    table = "simple_rr jsq conga choice drill dlb sglb rps rsq reps ar drb ethereal pofan ofan"
    assert set(table.split()) | {"ecmp"} == set(schemes.names())


def test_labels_name_their_parameters() -> None:
    assert schemes.label("pofan", {}) == "4Ofan"
    assert schemes.label("pofan", {"pipe_ports": 1}) == "1Ofan"
    assert schemes.label("ofan", {}) == "Ofan"


@pytest.mark.parametrize("scheme", schemes.SCHEMES, ids=lambda scheme: scheme.name)
def test_programs_open_with_the_papers_section_and_deviations(scheme: schemes.Scheme) -> None:
    (parameters,) = schemes.settled((scheme,), {})
    source = schemes.program(scheme, network(Scenario()), parameters)
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
