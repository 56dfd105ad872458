"""Names that command files depend on, as the reference compiler gives them."""

from pathlib import Path

import pytest

from tests.p4.compiler.support import Json, compile_parts

HASH = "HashAlgorithm.crc16, 32w8, 32w8"


def tables(*implementations: str) -> dict[str, str]:
    key = "key = { hdr.h.a: exact; hdr.h.b: selector; } actions = { NoAction; }"
    return {
        "locals": "action_profile(4) known;"
        + "".join(f"table t{n} {{ {key} {text} }}" for n, text in enumerate(implementations)),
        "apply": "".join(f"t{n}.apply();" for n in range(len(implementations))),
    }


def profiles(json: Json) -> list[str]:
    return [each["name"] for each in json["pipelines"][0]["action_profiles"]]


@pytest.mark.parametrize(
    ("implementation", "name"),
    [
        ("implementation = known;", "I.known"),
        ("implementation = action_profile(4);", "action_profile_0"),
        (f"implementation = action_selector({HASH});", "action_profile_0"),
        ('@name("mine") implementation = action_profile(4);', "mine"),
        ('@name(".mine") implementation = action_profile(4);', "mine"),
        (f'@name("a.b") implementation = action_selector({HASH});', "a.b"),
    ],
)
def test_profiles(tmp_path: Path, implementation: str, name: str) -> None:
    json = compile_parts(tmp_path, **tables(implementation))
    assert name in profiles(json)
    (table,) = json["pipelines"][0]["tables"]
    assert table["action_profile"] == name


def test_profiles_without_names_are_numbered_in_the_order_of_their_tables(tmp_path: Path) -> None:
    unnamed, named = "implementation = action_profile(4);", '@name("x") '
    json = compile_parts(tmp_path, **tables(unnamed, unnamed, named + unnamed, unnamed))
    used = [each["action_profile"] for each in json["pipelines"][0]["tables"]]
    assert used[:3] == ["action_profile_0", "action_profile_1", "x"]
    assert used[3].startswith("action_profile_")
    assert len(set(used)) == 4


@pytest.mark.parametrize(
    ("counters", "name"),
    [
        ("counters = direct_counter(CounterType.packets);", "counter"),
        ('@name("c") counters = direct_counter(CounterType.packets);', "c"),
    ],
)
def test_direct_counters(tmp_path: Path, counters: str, name: str) -> None:
    table = f"table t {{ key = {{ hdr.h.a: exact; }} actions = {{ NoAction; }} {counters} }}"
    json = compile_parts(tmp_path, locals=table, apply="t.apply();")
    assert [each["name"] for each in json["counter_arrays"]] == [name]
