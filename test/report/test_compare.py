"""What is ranked, and what is never ranked."""

from builder import Document, configuration, hash_of, result
from conftest import summaries_of
from report.compare import Cell, cells


def cells_of(*results: Document) -> tuple[Cell, ...]:
    return cells(summaries_of(*results))


def standings(cell: Cell) -> list[tuple[str, list[tuple[str, int | None, float | None]]]]:
    return [
        (ranking.store or "?", [(s.summary.identity.label, s.rank, s.ratio) for s in ranking.standings])
        for ranking in cell.rankings
    ]


def test_rows_are_ranked_by_the_median_run() -> None:
    slow, fast = configuration("valkey-glide"), configuration("iovalkey")
    (cell,) = cells_of(
        result(slow, 1, 500),
        result(slow, 2, 3000),
        result(slow, 3, 750),
        *(result(fast, n, 1000) for n in (1, 2, 3)),
    )
    assert standings(cell) == [("valkey", [("iovalkey", 1, 1.0), ("valkey-glide", 2, 0.75)])]


def test_equal_medians_share_a_rank() -> None:
    (cell,) = cells_of(
        result(configuration("iovalkey"), 1, 1000),
        result(configuration("valkey-glide"), 1, 1000),
        result(configuration("ioredis@valkey"), 1, 500),
    )
    assert [rank for _, rank, _ in standings(cell)[0][1]] == [1, 1, 3]


def test_rows_on_another_store_are_ranked_apart() -> None:
    (cell,) = cells_of(
        result(configuration("ioredis"), 1, 9000),
        result(configuration("iovalkey"), 1, 1000),
        result(configuration("valkey-glide"), 1, 500),
    )
    assert cell.stores_differ
    assert standings(cell) == [
        ("valkey", [("iovalkey", 1, 1.0), ("valkey-glide", 2, 0.5)]),
        ("redis", [("ioredis", None, None)]),
    ]


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
    assert len({hash_of(each) for each in [base, *others]}) == 9
    assert len(cells_of(*(result(each) for each in [base, *others]))) == 9


def test_fewer_than_five_runs_are_few() -> None:
    one, other = configuration("iovalkey"), configuration("valkey-glide")
    five = [result(one, n, 1000) for n in range(1, 6)]
    four = [result(other, n, 900) for n in range(1, 5)]
    (cell,) = cells_of(*five, *four)
    assert (cell.rankings[0].fewest_runs, cell.rankings[0].few_runs) == (4, True)
    (cell,) = cells_of(*five, *four, result(other, 5, 900))
    assert (cell.rankings[0].fewest_runs, cell.rankings[0].few_runs) == (5, False)
