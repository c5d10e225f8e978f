"""Figures are plain dictionaries: plotly's own library says whether plotly can draw them."""

import json

import plotly.graph_objects as go
import pytest

from builder import Document, configuration, result
from campaign_writer import manifest
from conftest import Build
from fault_documents import faulted
from memory_documents import run_of as memory_run
from page_reader import data_of, read


def closed(label: str, connections: int, run: int, **changes: object) -> Document:
    load = {"model": "closed", "connections": connections}
    return result(configuration(label, load=load, **changes), run)


def at_a_rate(rate: int, run: int) -> Document:
    load = {"model": "open", "rate_per_second": rate, "arrivals": "constant", "connections": 50}
    return result(configuration(load=load), run)


CAMPAIGNS = {
    "closed loop": [
        closed(label, connections, run)
        for label in ("iovalkey", "ioredis", "none", "memory")
        for connections in (10, 50)
        for run in (1, 2)
    ]
    + [closed("iovalkey", 10, run, servers=2) for run in (1, 2)],
    "open loop": [at_a_rate(rate, run) for rate in (1000, 2000) for run in (1, 2)],
    "memory": [memory_run(keys, keys * 100) for keys in (1000, 2000, 3000)],
    "faults": [faulted("iovalkey"), faulted("ioredis")],
}


@pytest.mark.parametrize("name", CAMPAIGNS)
def test_plotly_admits_every_figure_and_changes_nothing(build: Build, name: str) -> None:
    documents = CAMPAIGNS[name]
    configurations = {each["configuration_hash"]: each["configuration"] for each in documents}
    outcome = build(manifest(list(configurations.values()), 2), documents)
    figures = data_of(read(outcome.page))["figures"]
    assert figures
    for figure in figures.values():
        admitted = json.loads(go.Figure(figure).to_json())
        admitted["layout"].pop("template")
        assert admitted == figure
