from __future__ import annotations

import math
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import testbed
from errors import UserError
from testbed.scenario import FIELDS, Scenario, flat, from_toml, to_toml

NAMES = [field.name for field in FIELDS]
WRONG: dict[str, list[Any]] = {
    "scheme": [3, None],
    "seed": [-1, 1.5, "1", True],
    "topology": ["torus", 4],
    "k": [3, 2, 4.0, "four", True],
    "rate_gbps": [0, -1, 1e6, math.nan, math.inf, "fast"],
    "delay_ns": [-1, 1e11, math.nan],
    "payload_bytes": [0, 65_537, 1.5],
    "header_bytes": [61],
    "ack_bytes": [0],
    "gap_bytes": [-1],
    "buffer_bytes": [0, "none"],
    "ecn_bytes": [-1, None],
    "acks": [1, "true", None],
    "message_bytes": [0, -5],
    "load": [0, 1.01, math.nan, True],
    "failures": [-0.1, 1],
    "mix": ["ar", ("ar",), ("ar", "edge", "core"), ("ar", 3)],
    "parameters": [{"tau_us": "x"}, 3],
    "workload_options": [{"server": [1]}],
}


def test_fields__all_have_a_help() -> None:
    assert all(field.about.help for field in FIELDS)


@pytest.mark.parametrize(
    ("name", "value"), [(name, value) for name, values in WRONG.items() for value in values]
)
def test_scenario__wrong_value__is_named_with_its_field(name: str, value: Any) -> None:
    with pytest.raises(UserError) as raised:
        Scenario(**{name: value})
    key = next(iter(value)) if isinstance(value, dict) else name
    assert str(raised.value).startswith(f"{key} is ")
    assert "must be" in str(raised.value)
    assert "\n" not in str(raised.value)


scenarios = st.builds(
    Scenario,
    scheme=st.text(st.characters(codec="utf-8"), max_size=8),
    seed=st.integers(0, 2**63 - 1),
    topology=st.sampled_from(["fat-tree", "leaf-spine"]),
    k=st.integers(2, 99).map(lambda half: 2 * half),
    rate_gbps=st.floats(0.001, 1e5),
    buffer_bytes=st.none() | st.integers(1, 10**12),
    acks=st.booleans(),
    load=st.floats(0.001, 1),
    mix=st.none() | st.tuples(st.just("ar"), st.sampled_from(["edge", 'a "quoted" \\ place'])),
    parameters=st.dictionaries(st.text("abc_", min_size=1), st.floats(-1e9, 1e9)),
    workload_options=st.dictionaries(
        st.text("abc_", min_size=1), st.floats(-1e9, 1e9) | st.text("xyz\"'\n")
    ),
)


@given(scenario=scenarios)
def test_toml__gives_the_scenario_back(scenario: Scenario) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "scenario.toml"
        path.write_text(to_toml(scenario), encoding="utf-8")
        assert from_toml(path, whole=True) == scenario


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("k = ", "not TOML"),
        ("kay = 4", "no field kay"),
        ("messagebytes = 4", "did you mean message_bytes"),
        ("k = 5", "k is 5; it must be an even number of at least 4"),
    ],
)
def test_from_toml__wrong_file__is_named(tmp_path: Path, text: str, complaint: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UserError, match=r"mine\.toml: ") as raised:
        from_toml(path)
    assert complaint in str(raised.value)


@pytest.mark.parametrize("missing", [field.name for field in FIELDS if field.default is not None])
def test_from_toml__of_a_whole_scenario__misses_what_is_not_there(
    tmp_path: Path, missing: str
) -> None:
    lines = to_toml(Scenario()).splitlines()
    path = tmp_path / "scenario.toml"
    kept = [line for line in lines if not line.startswith((f"{missing} ", f"[{missing}]"))]
    path.write_text("\n".join(kept), encoding="utf-8")
    assert from_toml(path) == Scenario()
    with pytest.raises(UserError, match=f"{missing} is missing"):
        from_toml(path, whole=True)


def test_flat__has_a_column_for_every_field_and_for_every_entry_of_a_table() -> None:
    scenario = Scenario(
        mix=("ar", "edge"), parameters={"tau_us": 1.0}, workload_options={"server": 2}
    )
    columns = flat(scenario)
    tables = {field.name for field in FIELDS if field.default == {}}
    assert set(NAMES) - set(columns) == tables
    assert columns["mix"] == "ar+edge"
    assert columns["parameters.tau_us"] == 1.0
    assert columns["workload_options.server"] == 2


def test_testbed__offers_the_scenario() -> None:
    assert testbed.Scenario is Scenario


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"k = [" + b"[" * 3000, "nested too deeply"),
        (b"k = 4\nk = 8\n", r"s\.toml:2: not TOML"),
        (b"k = \xff", "not UTF-8"),
    ],
)
def test_from_toml__what_is_no_toml__is_refused(
    content: bytes, problem: str, tmp_path: Path
) -> None:
    path = tmp_path / "s.toml"
    path.write_bytes(content)
    with pytest.raises(UserError, match=problem):
        from_toml(path)


def test_from_toml__number_beyond_all__is_refused(tmp_path: Path) -> None:
    path = tmp_path / "s.toml"
    path.write_text(f"load = {'9' * 400}\n", encoding="utf-8")
    with pytest.raises(UserError, match="load"):
        from_toml(path)
