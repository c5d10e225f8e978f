"""Versions of a library side by side: rows of their own, ranked together, told apart wherever they
stand."""

from builder import Document, configuration, result
from campaign_writer import manifest
from conftest import ranks_of, summaries_of
from evidence import REDIS_SHA1, VALKEY_SHA1
from report.analysis.cells import Cell, cells
from report.analysis.ranking_properties import RankingProperties
from report.results.model import Campaign
from report.sections.client_vs_script import client_vs_script_tables
from report.sections.environment import campaign_properties
from report.sections.script_text import disclosure

OLD = "ioredis+rate-limiter-flexible~7.1.1"
NEW = "ioredis+rate-limiter-flexible~11.4.0"


def measured(
    label: str, requests_per_second: int = 1000, sha1: str = REDIS_SHA1, runs: int = 1
) -> list[Document]:
    script = {"kind": "evalsha", "name_or_sha1": sha1}
    return [
        result(configuration(label), run, requests_per_second, limiter_script=script)
        for run in range(1, runs + 1)
    ]


def cell_of(*results: Document) -> Cell:
    (cell,) = cells(summaries_of(*results))
    return cell


def ranked(cell: Cell) -> list[list[tuple[str, int | None]]]:
    return [
        list(
            zip(
                [row.identity.short_label for row in ranking.summaries],
                ranks_of(ranking),
                strict=True,
            )
        )
        for ranking in cell.rankings
    ]


def test_versions_of_one_limiter_are_ranked_and_compared_with_each_other() -> None:
    cell = cell_of(*measured(OLD, 1000, runs=5), *measured(NEW, 1500, runs=5))
    assert ranked(cell) == [[(NEW, 1), (OLD, 2)]]
    (pair,) = cell.rankings[0].pairs
    assert (pair.base.identity.label, pair.new.identity.label) == (NEW, OLD)
    assert pair.comparison.status == "worse"


def test_where_versions_run_other_scripts_that_is_said_with_their_names() -> None:
    (same,) = cell_of(*measured(OLD), *measured(NEW)).rankings
    assert disclosure(same) == "All run the same script, a1de965f, by EVALSHA."
    (other,) = cell_of(*measured(OLD, sha1=VALKEY_SHA1), *measured(NEW)).rankings
    assert disclosure(other) == (
        f"{NEW}: EVALSHA a1de965f; {OLD}: EVALSHA {VALKEY_SHA1[:8]}."
        " A difference is one of limiter version and script together."
    )


def test_under_one_script_for_all_versions_that_run_another_are_not_ranked_together() -> None:
    rows = [*measured(f"{OLD}+same-script", sha1=VALKEY_SHA1), *measured(f"{NEW}+same-script")]
    properties = [ranking.properties for ranking in cell_of(*rows).rankings]
    assert {each.scripts for each in properties} == {(REDIS_SHA1,), (VALKEY_SHA1,)}
    assert all(isinstance(each, RankingProperties) and each.same_script for each in properties)


def test_client_and_script_are_told_apart_within_a_version() -> None:
    labels = [
        OLD,
        f"{OLD}+same-script",
        NEW,
        f"{NEW}+same-script",
        "iovalkey~0.3.1+fastify-rate-limit~10.3.0",
    ]
    results = [
        row for label in labels for row in measured(label.replace("ioredis", "ioredis@valkey"))
    ]
    (table,) = client_vs_script_tables(cell_of(*results))
    rows = [[cell.text for cell in row.cells] for row in table.rows]
    assert sorted(texts[0] for texts in rows if "–" not in texts[1:9]) == [NEW, OLD]


def test_page_names_what_was_installed_for_a_version() -> None:
    packages = {"debug": "4.4.3", "ioredis": "5.6.1", "ioredis/node_modules/ms": "2.1.3"}
    installed = [
        {"name": "ioredis", "version": "5.6.1", "sha256": "0" * 64, "packages": packages},
        {"name": "x", "version": "1.0.0", "sha256": "0" * 64, "packages": {"x": "1.0.0"}},
    ]
    document = manifest([configuration("ioredis~5.6.1")], versions=installed)
    properties = dict(campaign_properties(Campaign(name="c", manifest=document)))
    assert properties["Installed ioredis 5.6.1"] == "debug 4.4.3, ioredis/node_modules/ms 2.1.3"
    assert properties["Installed x 1.0.0"] == "without dependencies"
