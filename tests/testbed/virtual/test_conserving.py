"""A few of the scenarios that benchmarks/conserve.py runs by the thousand."""

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.testbed.virtual.conserving import drawn, run_and_check


@given(st.data())
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
def test_every_packet__arrives_once_or_the_run_says_why_not(data: st.DataObject) -> None:
    scenario = drawn(
        lambda values: data.draw(st.sampled_from(list(values))),
        lambda least, most: data.draw(st.integers(least, most)),
    )
    run_and_check(scenario, threads=data.draw(st.sampled_from([1, 2])))
