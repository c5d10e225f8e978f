from builder import configuration, result
from campaign_writer import manifest
from conftest import Build
from machine_documents import machine
from report.results.validate import SCHEMA_VERSION, upgraded


def test_documents_of_the_previous_schema_are_read(build: Build) -> None:
    moments = dict.fromkeys(("at_start", "at_window_open", "at_end"), "in time")
    times = {"integer_us": 15_000.0, "chase_us": 12_000.0, "cpus": 8}
    speed = {"before": times, "after": times}
    gone = {"readings": moments, "host_speed": speed, "machine_speed": {"node1": speed}}
    previous = {**result(configuration()), "schema_version": 2, **gone}
    probe = {"version": 1, "clock": "cpu time"}
    machines = [{**machine("node1"), "host_speed": probe}]
    campaign = {**manifest([configuration()]), "schema_version": 2, "host_speed": probe, "machines": machines}
    campaign["plan"] = {**campaign["plan"], "schema_version": 2}
    assert build(campaign, [previous]).code == 0


def test_other_documents_stay_as_they_are() -> None:
    for version in (1, SCHEMA_VERSION, SCHEMA_VERSION + 1):
        document = {"schema_version": version, "readings": {}}
        assert upgraded(document) == document
