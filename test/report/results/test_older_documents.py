"""Documents of each former version become documents of the present one, and damaged ones are
named."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from builder import Document, configuration, result
from campaign_writer import manifest, planned
from conftest import Build
from evidence import histogram_of
from fault_documents import faulted
from fixtures import fixture
from machine_documents import link, machine
from report.results.older_documents import (
    OLDEST_VERSION,
    RESULT,
    SCHEMA_VERSION,
    STEPS,
    converted,
    curve_ms,
    never_counted,
)
from report.statistics.histograms import CURVE

OPEN = {"model": "open", "rate_per_second": 5000, "arrivals": "constant", "connections": 200}

#: What a target states since version 4.
_LATER_PROPERTIES = ("same_script", "settings", "encrypted", "copy_of")


def _without_later_properties(configured: Document) -> Document:
    target = {
        name: value for name, value in configured["target"].items() if name not in _LATER_PROPERTIES
    }
    return {**configured, "target": target}


def as_version_3(document: Document) -> Document:
    """A result as version 3 had it."""
    older: Document = json.loads(json.dumps(document))
    older["schema_version"] = 3
    for name in ("load_text", "latency_curve_ms"):
        older.pop(name, None)
    if "configuration" in older:
        older["configuration"] = _without_later_properties(older["configuration"])
    for figures in older.get("fault_figures", {}).get("faults", ()):
        figures.pop("served_again_s", None)
    return older


def manifest_of_version_3(*configured: Document) -> Document:
    older = manifest(configured)
    plan = older["plan"]
    plan["configurations"] = [
        {"hash": planned(entry)["hash"], "configuration": _without_later_properties(entry)}
        for entry in configured
    ]
    plan["schema_version"] = older["schema_version"] = 3
    older["machine"]["machine_id"] = "0" * 16
    description = machine("node1")
    older["machines"] = [{**description, "facts": {**description["facts"], "machine_id": "1" * 16}}]
    return older


@pytest.mark.parametrize("label", list(fixture("targets")))
def test_version_3_gets_what_a_result_states_today(label: str) -> None:
    present = result(configuration(label, load=OPEN))
    assert converted(as_version_3(present)) == present


@pytest.mark.parametrize(
    "load", [{"model": "closed", "connections": 1}, {**OPEN, "rate_per_second": 1e6}]
)
@pytest.mark.parametrize("layer", ["server", "limiter"])
def test_loads_get_their_words(layer: str, load: Document) -> None:
    text = converted(as_version_3(result(configuration(layer=layer, load=load))))["load_text"]
    single = "1 at a time" if layer == "limiter" else "1 connection"
    many = "200 at a time" if layer == "limiter" else "200 connections"
    assert text == (single if load["model"] == "closed" else f"1,000,000/s constant, up to {many}")


@pytest.mark.parametrize(
    ("label", "decider"), [("ioredis", "library"), ("memory", "in-process"), ("none", "nothing")]
)
def test_who_decides_in_a_target_that_does_not_state_it(label: str, decider: str) -> None:
    older = as_version_3(result(configuration(label)))
    del older["configuration"]["target"]["decided_by"]
    assert converted(older)["configuration"]["target"]["decided_by"] == decider


def test_the_curve_stops_where_it_is_not_identified() -> None:
    curve = curve_ms(histogram_of({1000: 985}), histogram_of({20_000: 15}))
    assert len(curve) == CURVE.index(98.5) + 1
    assert set(curve) == {1.0}
    assert curve_ms(histogram_of({}), histogram_of({20_000: 15})) == []


def test_a_generator_that_was_started_by_hand_is_known_by_what_it_was_asked() -> None:
    present = result(configuration())
    del present["configuration"], present["configuration_hash"], present["campaign"]
    assert converted(as_version_3(present)) == present


def test_faults_get_when_requests_were_served_again_from_the_timeline() -> None:
    (figures,) = converted(as_version_3(faulted()))["fault_figures"]["faults"]
    # The second that fails leaves fewer than three in a row.
    assert (figures["served_again_s"], figures["served_again_from"]) == (None, "timeline")
    untold = as_version_3(faulted())
    del untold["timeline"]
    assert "served_again_s" not in converted(untold)["fault_figures"]["faults"][0]


def test_manifests_of_version_3_get_words_and_properties_and_lose_ids_of_machines() -> None:
    configured = configuration("iovalkey+copy+same-script")
    present = converted(manifest_of_version_3(configured))
    assert present["plan"]["configurations"] == [planned(configured)]
    assert "machine_id" not in present["machine"]
    assert "machine_id" not in present["machines"][0]["facts"]


@pytest.mark.parametrize("version", [2, 3, 4])
def test_links_lose_how_far_clocks_were_apart(version: int) -> None:
    offset = {"offset_us": -1200.0, "bound_us": 30.0}
    session = {"started_at": "2026-01-02T03:04:05.000Z"}
    links = [{**link("one", "other", 60), "clock": {"before": offset, "after": offset}}]
    older = {**manifest([configuration()]), "schema_version": version}
    older["sessions"] = [session, {**session, "links": links}]
    assert converted(older)["sessions"] == [
        session,
        {**session, "links": [link("one", "other", 60)]},
    ]


def _version_2(document: Document) -> Document:
    times = {"integer_us": 15_000.0, "chase_us": 12_000.0, "cpus": 8}
    speed = {"before": times, "after": times}
    moments = dict.fromkeys(("at_start", "at_window_open", "at_end"), "in time")
    gone = {"readings": moments, "host_speed": speed, "machine_speed": {"node1": speed}}
    return {**as_version_3(document), **gone, "schema_version": 2}


def _manifest_of_version_2(*configured: Document) -> Document:
    older = manifest_of_version_3(*configured)
    older["schema_version"] = older["plan"]["schema_version"] = 2
    older["host_speed"] = {"version": 1, "clock": "cpu time"}
    older["machines"][0]["host_speed"] = older["host_speed"]
    runs = older["plan"]["runs"]
    older["plan"]["runs"] = [
        {**runs[0], "run": 0},
        *({**run, "round": 1, "block": 2} for run in runs),
    ]
    return older


def test_campaigns_of_version_2_are_reported_without_the_runs_that_never_counted(
    build: Build,
) -> None:
    first = {**_version_2(result(configuration())), "run": 0}
    assert [
        never_counted(document) for document in (first, _version_2(result(configuration())))
    ] == [
        True,
        False,
    ]
    campaign = _manifest_of_version_2(configuration())
    outcome = build(campaign, [first, _version_2(result(configuration()))])
    assert outcome.code == 0
    assert "it came before the first round that counts" in outcome.page
    runs = converted(campaign)["plan"]["runs"]
    assert [(run["run"], run["group"]) for run in runs] == [(1, 2), (2, 2), (3, 2)]


def test_each_version_has_a_step_to_the_next() -> None:
    assert {since for since, schema, _ in STEPS if schema == RESULT} == set(
        range(OLDEST_VERSION, SCHEMA_VERSION)
    )


@pytest.mark.parametrize("version", [1, SCHEMA_VERSION, SCHEMA_VERSION + 1, "3", None, [3], 3.5])
def test_other_documents_stay_as_they_are(version: Any) -> None:
    document = {"schema": RESULT, "schema_version": version, "readings": {}}
    assert converted(document) == document


def _damaged(document: Any) -> Iterator[Any]:
    """The document with one of its values, at any depth, replaced by null, or by what is of another
    type."""
    if not isinstance(document, dict):
        return
    for name, value in document.items():
        others: list[Any] = [None, [], {}, "x", -1]
        for other in others:
            yield {**document, name: other}
        for inner in _damaged(value):
            yield {**document, name: inner}


def test_no_damage_stops_a_conversion() -> None:
    documents = (as_version_3(faulted()), _version_2(result(configuration())))
    manifests = (_manifest_of_version_2(configuration()), manifest_of_version_3(configuration()))
    # The histograms are left alone: they are the same damage over and over, and slow.
    for document in (*({**entry, "generators": []} for entry in documents), *manifests):
        for damaged in _damaged(document):
            if damaged["schema"] == document["schema"] and damaged["schema_version"] in (2, 3):
                assert converted(damaged)["schema_version"] == SCHEMA_VERSION


@pytest.mark.parametrize(
    ("path", "value", "field"),
    [
        ("configuration.load.connections", "many", "$.configuration.load.connections is"),
        ("configuration.target.options", 1, "$.configuration.target.options is 1"),
        ("generators.0.histograms.allowed.data", "AAAA", "$.latency_curve_ms is missing"),
    ],
)
def test_damage_in_an_older_document_is_named(
    build: Build, path: str, value: Any, field: str
) -> None:
    document = as_version_3(result(configuration()))
    *parents, last = path.split(".")
    place: Any = document
    for name in parents:
        place = place[int(name)] if name.isdigit() else place[name]
    place[last] = value
    outcome = build(None, [document])
    assert outcome.code == 2
    assert field in outcome.err
