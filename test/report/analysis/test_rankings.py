"""What is ranked, and what is never ranked."""

from typing import Any

import pytest

from builder import Document, configuration, hash_of, result, target
from conftest import ranks_of, summaries_of
from report.analysis.cells import Cell, cells
from report.sections.script_text import difference, mode_text


def cells_of(*results: Document) -> tuple[Cell, ...]:
    return cells(summaries_of(*results))


def standings(cell: Cell) -> list[tuple[str, list[tuple[str, int | None]]]]:
    return [
        (
            ranking.properties.store or "?",
            list(
                zip(
                    [row.identity.label for row in ranking.summaries],
                    ranks_of(ranking),
                    strict=True,
                )
            ),
        )
        for ranking in cell.rankings
    ]


def runs_of(label: str, rate: int, count: int = 5, **changes: Any) -> list[Document]:
    """Runs that differ by little from each other."""
    return [result(configuration(label), run, rate + run, **changes) for run in range(1, count + 1)]


def foreign(percent: float) -> Document:
    return {"cpus": 2, "busy_cpu_percent": 150, "foreign_cpu_percent": percent}


def test_rows_stand_by_their_medians_and_are_ranked_by_what_was_shown() -> None:
    (cell,) = cells_of(*runs_of("valkey-glide", 750), *runs_of("iovalkey", 1000))
    assert standings(cell) == [("valkey", [("iovalkey", 1), ("valkey-glide", 2)])]
    (ranking,) = cell.rankings
    first, second = ranking.summaries
    assert ranking.winner is first
    assert ranking.versus_base(first) is None
    # The median of all ratios of a run to a run, and no quotient of medians.
    comparison = ranking.versus_base(second)
    assert comparison is not None
    assert comparison.ratio == pytest.approx(0.7507, abs=0.0001)


def test_fewer_than_five_runs_rank_nothing() -> None:
    (cell,) = cells_of(*runs_of("valkey-glide", 750, 4), *runs_of("iovalkey", 1000, 4))
    assert standings(cell) == [("valkey", [("iovalkey", None), ("valkey-glide", None)])]
    assert cell.rankings[0].winner is None


def test_one_run_of_a_row_has_no_ratio() -> None:
    (cell,) = cells_of(*runs_of("valkey-glide", 750, 1), *runs_of("iovalkey", 1000, 1))
    (ranking,) = cell.rankings
    comparison = ranking.versus_base(ranking.summaries[1])
    assert comparison is not None
    assert (comparison.ratio, comparison.interval) == (None, None)


def test_who_is_not_told_from_the_first_has_no_rank() -> None:
    (cell,) = cells_of(
        *runs_of("iovalkey", 1000),
        *(
            result(configuration("ioredis@valkey"), n, rate)
            for n, rate in enumerate((900, 950, 999, 1020, 1050), 1)
        ),
        *runs_of("valkey-glide", 500),
    )
    assert standings(cell) == [
        ("valkey", [("iovalkey", None), ("ioredis@valkey", None), ("valkey-glide", 3)])
    ]
    assert cell.rankings[0].winner is None


def test_other_programs_beside_one_row_alone_forbid_a_conclusion() -> None:
    quiet = runs_of("iovalkey", 1000, host_load=foreign(1))
    (cell,) = cells_of(*quiet, *runs_of("valkey-glide", 750, host_load=foreign(8)))
    (pair,) = cell.rankings[0].pairs
    assert pair.comparison.status == "not decided"
    assert pair.comparison.reason == (
        "other programs used 1 % of one CPU beside iovalkey and 8 % beside valkey-glide"
    )
    assert standings(cell) == [("valkey", [("iovalkey", None), ("valkey-glide", None)])]
    (alike,) = cells_of(*quiet, *runs_of("valkey-glide", 750, host_load=foreign(6)))
    assert alike.rankings[0].winner is not None


def test_rows_on_another_store_are_ranked_apart() -> None:
    (cell,) = cells_of(
        *runs_of("ioredis", 9000), *runs_of("iovalkey", 1000), *runs_of("valkey-glide", 500)
    )
    assert cell.stores_differ
    assert standings(cell) == [
        ("valkey", [("iovalkey", 1), ("valkey-glide", 2)]),
        ("redis", [("ioredis", None)]),
    ]


def test_on_versions_of_a_store_each_client_is_ranked_with_itself() -> None:
    every = [*runs_of("iovalkey@valkey~8.1", 1000), *runs_of("valkey-glide@valkey~8.1", 500)]
    (cell,) = cells_of(*every)
    assert standings(cell) == [
        ("valkey", [("iovalkey@valkey~8.1", 1), ("valkey-glide@valkey~8.1", 2)])
    ]
    (cell,) = cells_of(
        *every,
        *runs_of("iovalkey@valkey~9.1", 1100),
        *runs_of("valkey-glide@valkey~9.1", 400),
        *runs_of("ioredis@redis~8.0", 9000),
    )
    assert standings(cell) == [
        ("valkey", [("iovalkey@valkey~9.1", 1), ("iovalkey@valkey~8.1", 2)]),
        ("valkey", [("valkey-glide@valkey~8.1", 1), ("valkey-glide@valkey~9.1", 2)]),
        ("redis", [("ioredis@redis~8.0", None)]),
    ]
    assert [ranking.properties.client for ranking in cell.rankings] == [
        "iovalkey",
        "valkey-glide",
        "",
    ]
    assert "valkey and redis~8.0" in difference(cell)


def test_in_versions_of_node_each_client_is_ranked_with_itself() -> None:
    (cell,) = cells_of(
        *runs_of("iovalkey+node-22", 1000),
        *runs_of("valkey-glide+node-22", 500),
        *runs_of("iovalkey+node-24", 1100),
    )
    assert standings(cell) == [
        ("valkey", [("iovalkey+node-24", 1), ("iovalkey+node-22", 2)]),
        ("valkey", [("valkey-glide+node-22", None)]),
    ]
    assert "iovalkey in several Node versions" in mode_text(cell.rankings[0])


def test_with_tls_and_without_each_client_is_ranked_with_itself() -> None:
    (cell,) = cells_of(
        *runs_of("iovalkey+tls", 900),
        *runs_of("iovalkey", 1000),
        *runs_of("valkey-glide", 500),
        *runs_of("valkey-glide+tls", 400),
    )
    assert standings(cell) == [
        ("valkey", [("iovalkey", 1), ("iovalkey+tls", 2)]),
        ("valkey", [("valkey-glide", 1), ("valkey-glide+tls", 2)]),
    ]
    assert "iovalkey with TLS and without" in mode_text(cell.rankings[0])
    (cell,) = cells_of(*runs_of("iovalkey+tls", 900), *runs_of("valkey-glide+tls", 400))
    assert standings(cell) == [("valkey", [("iovalkey+tls", 1), ("valkey-glide+tls", 2)])]


def test_controls_stand_beside_and_are_not_ranked() -> None:
    (cell,) = cells_of(
        result(configuration("iovalkey"), 1, 1000),
        result(configuration("none"), 1, 9000),
        result(configuration("memory"), 1, 8000),
        result(configuration("none", traffic="fixed"), 1, 7000),
    )
    assert [summary.identity.label for summary in cell.summaries] == ["iovalkey"]
    assert [summary.identity.label for summary in cell.controls] == ["none", "memory"]


def test_other_topology_workload_traffic_load_or_limits_is_another_cell() -> None:
    base = configuration("iovalkey")
    others = [
        configuration("iovalkey:cluster"),
        configuration("iovalkey", workload={"id": "heavy", "complexity": 10}),
        configuration("iovalkey", workload={"id": "heavy", "complexity": 20}),
        configuration("iovalkey", traffic="fixed"),
        configuration("iovalkey", load={"model": "closed", "connections": 100}),
        configuration("iovalkey", extent={"requests": 5000}),
        configuration("iovalkey", limits={"points": 10, "window_s": 1, "block_s": 0}),
        configuration("iovalkey", caps={"server": {"cpus": 1}}),
    ]
    assert len({hash_of(configured) for configured in [base, *others]}) == 9
    assert len(cells_of(*(result(configured) for configured in [base, *others]))) == 9


def test_caps_of_a_service_tell_no_rows_apart_that_have_none() -> None:
    store = {"store": {"cpus": 2}}
    service = {**target("envoy-grpc@valkey"), "service": "envoy-ratelimit"}
    capped = [
        configuration(
            "envoy-grpc@valkey", target=service, caps={**store, "service": {"cpus": cpus}}
        )
        for cpus in (1, 2)
    ]
    library = result(configuration("iovalkey", caps=store))
    (cell,) = cells_of(library, result(capped[0]))
    assert (cell.caps, len(cell.summaries)) == ("", 2)
    apart = cells_of(result(capped[0]), result(capped[1]))
    assert [each.caps for each in apart] == ["caps service 1 CPU", "caps service 2 CPUs"]
