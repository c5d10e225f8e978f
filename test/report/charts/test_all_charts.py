"""What holds for all charts: a section shows each, and plotly admits what they draw."""

from pathlib import Path

import plotly.graph_objects as go

from builder import Document, configuration, result
from campaign_writer import manifest, write_campaign
from conftest import Build, analysis_of_results
from curve_documents import REFERENCE, CurveTarget, curve_campaign
from memory_documents import run_of
from page_reader import data_of, read
from report.analysis.campaign_analysis import analyse
from report.charts.all_charts import CHARTS
from report.results.load import load_campaign
from report.sections.all_sections import sections_of

OPEN_LOOP = {
    "model": "open",
    "rate_per_second": 1000,
    "arrivals": "constant",
    "connections": 50,
}


def results_of_every_section_with_charts() -> list[Document]:
    several_servers = [result(configuration(servers=servers)) for servers in (1, 2)]
    memory = [run_of(keys, added=130 * keys) for keys in (100, 200)]
    return [*several_servers, result(configuration(load=OPEN_LOOP)), *memory]


def test_every_chart_is_named_by_a_section(tmp_path: Path) -> None:
    curve = curve_campaign({REFERENCE: CurveTarget()}, (500,), 1)
    analyses = [
        analysis_of_results(*results_of_every_section_with_charts()),
        analyse(load_campaign(write_campaign(tmp_path / "curve", *curve))),
    ]
    sections = [section for analysis in analyses for section in sections_of(analysis)]
    named_ids = {chart for section in sections for chart in section.charts}
    assert {chart.id for chart in CHARTS} - named_ids == set()


def test_plotly_admits_figures_as_they_are(build: Build) -> None:
    document = result(configuration(), window_s=2)
    reading = {"cpu_percent": 80, "resident_bytes": 1024}
    document["resources"]["server-1"]["samples"] = [{"t_s": 1, **reading}, {"t_s": 2, **reading}]
    page = build(manifest([document["configuration"]], 1), [document]).page
    figures = data_of(read(page))["figures"]
    assert {"percentiles", "series", "consumer-cpu-over-time"} <= set(figures)
    for figure in figures.values():
        assert go.Figure(figure).to_plotly_json()["data"] == figure["data"]
