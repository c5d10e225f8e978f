"""A chart that no section names is drawn, and shown nowhere."""

from builder import Document, configuration, result
from conftest import analysis_of_results
from memory_documents import run_of
from report.charts.all_charts import CHARTS
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


def test_every_chart_is_named_by_a_section() -> None:
    sections = sections_of(analysis_of_results(*results_of_every_section_with_charts()))
    named_ids = {chart for section in sections for chart in section.charts}
    assert {chart.id for chart in CHARTS} - named_ids == set()
