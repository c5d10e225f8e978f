"""What a page says of apps, which are HTTP servers of somebody else."""

from pathlib import Path

from builder import configuration, result
from campaign_writer import manifest, write_campaign
from conftest import analysis_of_results
from report.analysis.campaign_analysis import analyse
from report.results.load import load_campaign
from report.sections.environment import campaign_properties
from report.sections.headings import cell_title, page_heading, ranking_heading

BEFORE, AFTER = (
    configuration(
        f"app.{name}",
        workload={"id": "app", "endpoint": {"path": "/items?user={key}"}},
        traffic="allowed",
    )
    for name in ("before", "after")
)


def test_headings_name_the_request_and_no_limiter() -> None:
    analysis = analysis_of_results(
        result(BEFORE, consumers=[]), result(AFTER, requests_per_second=1500, consumers=[])
    )
    assert "app" in page_heading(analysis)
    [cell] = analysis.runtimes[0].cells
    assert cell_title(cell).startswith("Apps · GET /items?user={key} · allowed · ")
    [ranking] = cell.rankings
    assert ranking_heading(ranking) == "Apps"
    assert [row.identity.short_label for row in ranking.summaries] == ["before", "after"]


def test_the_page_names_the_command_and_the_commit_of_each_app(tmp_path: Path) -> None:
    written = manifest(
        [BEFORE, AFTER],
        1,
        apps={
            "before": {"command": "node a.js", "revision": "1234abcd with changes"},
            "after": {"command": "./b"},
        },
    )
    folder = write_campaign(tmp_path / "one", written, [result(BEFORE), result(AFTER)])
    campaign = load_campaign(folder)
    assert analyse(campaign)
    properties = dict(campaign_properties(campaign))
    assert properties["App before"] == "node a.js, commit 1234abcd with changes"
    assert properties["App after"] == "./b"
