"""What decides: groups, rankings and the best of each kind, over unequal work never one winner."""

from typing import Any

import pytest

from builder import Document, configuration, configuration_without_algorithm, result
from conftest import analysis_of_results, summaries_of
from report.analysis.figures import decision_cpu_us, decisions, node_cpu, total_of
from report.analysis.rankings import Ranking
from report.base.errors import FieldError
from report.export.tables_csv import RUNS_HEADER
from report.results.catalog import MEASURED_KINDS
from report.sections.all_figures import result_tables
from report.sections.best_performers import best_documents, best_performers
from report.sections.cpu import LIMITED_BY_CLIENT, decision_cpu_tables, part_kinds
from report.sections.environment import version_properties
from report.sections.filters import filter_values
from report.sections.headings import cell_title, ranking_heading
from report.sections.recommendation import recommend
from tables import by_column

RATES = {
    "ioredis": 5000,
    "ioredis+redis-gcra": 4000,
    "iovalkey@redis+rate-limit-redis": 4500,
    "ioredis+redis-cell": 5500,
    "ioredis+redis-shield": 5200,
    "envoy-grpc": 900,
    "envoy-http": 2500,
    "ioredis@throttlecrab": 6000,
}


def runs_of(label: str, rate: int, count: int = 10, **changes: Any) -> list[Document]:
    configured = configuration(label, **changes)
    more: Document = (
        {"limited_by": {"resource": "client", "text": "busy"}} if "grpc" in label else {}
    )
    return [
        result(configured, run, int(rate * (1 + 0.002 * run)), **more)
        for run in range(1, count + 1)
    ]


@pytest.fixture(scope="module")
def field() -> Any:
    return analysis_of_results(
        *(run for label, rate in RATES.items() for run in runs_of(label, rate))
    )


def labels(ranking: Ranking) -> list[str]:
    return [row.identity.short_label for row in ranking.summaries]


def test_groups_share_store_decider_and_algorithm_in_the_order_of_the_contract(field: Any) -> None:
    (cell,) = field.cells
    labels_by_group = {
        (
            ranking.properties.decided_by,
            ranking.properties.algorithm,
            ranking.properties.store,
        ): labels(ranking)
        for ranking in cell.rankings
    }
    assert list(labels_by_group.items()) == [
        (("library", "fixed window", "redis"), ["ioredis", "iovalkey@redis+rate-limit-redis"]),
        (("library", "GCRA", "redis"), ["ioredis+redis-gcra"]),
        (("module", "token bucket", "redis"), ["ioredis+redis-shield"]),
        (("module", "GCRA", "redis"), ["ioredis+redis-cell"]),
        (("service", "aligned window", "redis"), ["envoy-http", "envoy-grpc"]),
        (("service", "GCRA", "throttlecrab"), ["ioredis@throttlecrab"]),
    ]
    assert "decided by a module (GCRA), the limiter redis-cell" in ranking_heading(cell.rankings[3])


def test_the_best_of_each_kind_stands_on_each_store_and_none_stands_over_all(field: Any) -> None:
    best = best_documents(field)
    shown = ("decided_by", "store", "label", "next", "conclusion")
    assert [tuple(row[name] for name in shown) for row in best] == [
        ("library", "redis", "ioredis", "iovalkey@redis+rate-limit-redis", "faster"),
        ("module", "redis", "ioredis+redis-cell", "ioredis+redis-shield", "faster"),
        ("service", "redis", "envoy-http", "envoy-grpc", "faster"),
        ("service", "throttlecrab", "ioredis@throttlecrab", None, "only one"),
    ]
    assert best[0]["next_to_best"] == "0.90×, 0.89–0.91×"
    lead = recommend(field).lead
    assert "ioredis@throttlecrab is the fastest" not in lead
    assert lead.endswith("1 more comparison is below.")


def test_one_kind_with_one_algorithm_needs_no_best() -> None:
    analysis = analysis_of_results(*runs_of("ioredis", 5000, 2), *runs_of("node-redis", 4000, 2))
    assert list(best_performers(analysis.cells)) == []
    assert "decided by" not in filter_values(analysis.ordered)
    assert (
        ranking_heading(analysis.cells[0].rankings[0]) == "On redis 9.1.2, each client's own script"
    )


def test_other_limits_or_costs_are_other_work() -> None:
    limits = [{"points": points, "window_s": 60, "block_s": 0} for points in (10, 100, 100)]
    limits[2]["cost"] = 5
    runs = (
        runs_of(label, 5000, 1, limits=limit)
        for limit in limits
        for label in ("ioredis", "node-redis")
    )
    analysis = analysis_of_results(*(run for (run,) in runs))
    assert len({cell_title(cell) for cell in analysis.cells}) == 3
    texts = [cell.limits for cell in analysis.cells]
    assert texts == ["10 points", "100 points", "100 points"]
    assert [len(ranking.summaries) for cell in analysis.cells for ranking in cell.rankings] == [
        2,
        2,
        2,
    ]
    (table,) = result_tables(analysis.cells, ())
    assert {"Quota", "Cost"} <= {column.name for column in table.columns}


def test_results_with_and_without_an_algorithm_are_one_row() -> None:
    without = configuration_without_algorithm("ioredis")
    full = configuration("ioredis")
    first = result(without, 1)
    second = result(full, 2)
    second["configuration_hash"] = first["configuration_hash"]
    assert len(summaries_of(first, second)) == 1


def test_tables_and_filters_name_both_properties_where_they_differ(field: Any) -> None:
    (table,) = result_tables(field.cells, ())
    assert [column.name for column in table.columns[:4]] == [
        "Client",
        "Decided by",
        "Algorithm",
        "Store",
    ]
    last = [cell.text for cell in table.rows[-1].cells[:4]]
    assert last == ["ioredis@throttlecrab", "service", "GCRA", "throttlecrab"]
    assert ("Service CPU", "µs/request at full load") in [
        (column.name, column.unit) for column in table.columns
    ]
    assert filter_values(field.ordered)["decided by"] == ["library", "module", "service"]


def test_cpu_per_decision_times_decisions_is_what_the_counters_grew_by() -> None:
    for label in ("ioredis", "envoy-http", "ioredis+redis-cell"):
        for servers in (1, 2):
            (run,) = runs_of(label, 3000, 1, servers=servers)
            (summary,) = summaries_of(run)
            figures = summary.selected_figures
            assert figures and figures.decisions
            parts = decision_cpu_us(figures)
            for kind, value in parts.items():
                grew = sum(
                    resource["cpu_us"]
                    for resource in run["resources"].values()
                    if resource["kind"] == kind
                )
                assert value * figures.decisions == pytest.approx(grew, rel=0.01)
            total = total_of(part_kinds(summary.identity))(figures)
            assert total == pytest.approx(sum(parts.values()), rel=0.01)
            assert set(parts) == {"server", "store", *(["service"] if "envoy" in label else [])}


def test_decisions_are_counted_by_descriptor_and_failures_are_none() -> None:
    (run,) = runs_of("ioredis", 3000, 1)
    counted = run["consumers"][0]
    counted["consumes"] = {"calls": 10, "allowed": 18, "limited": 2, "failed": 7}
    counted["at_window_open"]["consumes"] = {"calls": 5, "allowed": 3, "limited": 4, "failed": 1}
    counted["at_end"]["consumes"] = {"calls": 15, "allowed": 21, "limited": 6, "failed": 8}
    (summary,) = summaries_of(run)
    assert summary.figure_of(decisions).value == 20
    counted["at_end"]["consumes"]["allowed"] = 22
    with pytest.raises(FieldError, match=r"consumes\.allowed is 18, but the readings differ by 19"):
        summaries_of(run)


def test_at_the_limiter_layer_the_generator_is_the_client() -> None:
    (run,) = runs_of("ioredis", 3000, 1, layer="limiter", servers=0, workload={"id": "none"})
    (summary,) = summaries_of(run)
    figures = summary.selected_figures
    assert figures and set(decision_cpu_us(figures)) == {"store", "generator"}
    assert summary.figure_of(node_cpu).value == pytest.approx(40)
    (served,) = summaries_of(*runs_of("ioredis", 3000, 1))
    figures = served.selected_figures
    assert figures and "generator" not in decision_cpu_us(figures)


def test_a_row_without_one_of_its_parts_has_no_sum() -> None:
    (run,) = runs_of("envoy-http", 3000, 1)
    del run["resources"]["service-1"]
    (table,) = decision_cpu_tables(analysis_of_results(run))
    assert (by_column(table)[0]["Service"], by_column(table)[0]["Sum"]) == ("–", "–")


def test_where_the_client_is_the_limit_nothing_is_claimed_about_the_service(field: Any) -> None:
    (table,) = decision_cpu_tables(field)
    assert {"Node", "Service", "Store", "Sum"} <= {column.name for column in table.columns}
    limited = {row["Configuration"]: row["Limited by"] for row in by_column(table)}
    assert limited["ioredis"] == "server loop"
    by_client = {label for label, text in limited.items() if text == LIMITED_BY_CLIENT}
    assert by_client == {"envoy-grpc", "envoy-http", "ioredis@throttlecrab"}


def test_a_dear_protocol_is_named_only_where_runs_show_it(field: Any) -> None:
    (table,) = decision_cpu_tables(field)
    dearer = (
        "envoy-grpc costs Node 5.56×, 5.52–5.59× the CPU time of ioredis "
        "per decision at full load on redis."
    )
    assert dearer in table.caption
    few_runs = (*runs_of("ioredis", 5000, 3), *runs_of("envoy-grpc", 900, 3))
    (few,) = decision_cpu_tables(analysis_of_results(*few_runs))
    assert "costs Node" not in few.caption


def test_the_environment_names_modules_and_services() -> None:
    (run,) = runs_of("ioredis+redis-cell", 3000, 1)
    run["store"]["modules"] = [{"id": "redis-cell", "version": "0.2.2", "sha256": "ab" * 32}]
    ((_, properties),) = version_properties(summaries_of(run))
    assert ("Module redis-cell", "0.2.2, sha256 abababababab") in properties
    # A store that the user runs does not show its file.
    run["store"]["modules"] = [{"id": "redis-cell", "version": "1"}]
    ((_, properties),) = version_properties(summaries_of(run))
    assert ("Module redis-cell", "1") in properties
    ((_, properties),) = version_properties(summaries_of(*runs_of("envoy-http", 3000, 1)))
    assert ("Service envoy-ratelimit", "1.4.0") in properties


def test_every_kind_of_role_has_its_columns() -> None:
    assert {f"{kind}_cpu_us_per_request" for kind in MEASURED_KINDS} <= set(RUNS_HEADER)
    assert {f"cpu_us_per_decision_{kind}" for kind in ("server", "service", "store")} <= set(
        RUNS_HEADER
    )
