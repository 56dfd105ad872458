from __future__ import annotations

from dataclasses import replace

from experiments.looks import looks, shade
from testbed import schemes
from testbed.scenario import Scenario


def test_looks__are_the_registrys_in_its_order() -> None:
    found = looks([Scenario(scheme="ofan"), Scenario(scheme="ar")])
    assert list(found) == ["ar", "ofan"]
    assert (found["ar"].label, found["ar"].color) == ("AR", schemes.find("ar").color)


def test_looks__of_several_parameters_differ() -> None:
    piped = [Scenario(scheme="pofan", parameters={"pipe_ports": ports}) for ports in (1.0, 2.0)]
    found = looks(piped)
    assert [look.label for look in found.values()] == ["1Ofan", "2Ofan"]
    assert len({(look.color, look.marker) for look in found.values()}) == 2


def test_looks__of_mixes_differ_and_leave_the_scheme_its_own() -> None:
    alone = Scenario(scheme="ar")
    mixes = [replace(alone, mix=("pofan", where)) for where in ("edge", "random-pods")]
    found = looks([alone, *mixes])
    assert found["ar"].color == schemes.find("ar").color
    assert [look.label for look in found.values()] == ["AR", "4Ofan: edge", "4Ofan: random pods"]
    assert len({look.color for look in found.values()}) == 3


def test_looks__of_a_variant_by_default_is_the_schemes_own() -> None:
    piped = [
        Scenario(scheme="pofan", parameters={"pipe_ports": ports}) for ports in (1.0, 2.0, 4.0)
    ]
    colors = [look.color for look in looks(piped).values()]
    assert colors[2] == schemes.find("pofan").color
    assert not {*colors[:2]} & {scheme.color for scheme in schemes.SCHEMES}


def test_looks__of_4ofan_and_ofan_are_told_apart_where_they_coincide() -> None:
    found = looks([Scenario(scheme="pofan"), Scenario(scheme="ofan")])
    assert (found["pofan"].hollow, found["ofan"].dashed) == (True, True)


def test_shade__is_darker_at_the_first_place() -> None:
    assert shade("#ffffff", 0, 2) < shade("#ffffff", 1, 2) < "#ffffff"
    assert shade("#808000", 0, 1)[-2:] == "00"
