"""Which cells are marked as best, and what is added up."""

from builder import Document, configuration, result
from conftest import summaries_of
from report.analysis.cells import cells
from report.results.generated.records import Caps, Resource
from report.results.sums import cpu_us_per_request
from report.sections.all_figures import result_tables
from report.sections.section import Table


def tables_of(*results: Document) -> tuple[Table, ...]:
    summaries = summaries_of(*results)
    return result_tables(cells(summaries), [row for row in summaries if row.identity.control])


def best_of(table: Table) -> dict[str, list[str]]:
    """Row names by the columns in which they are marked as best."""
    marked: dict[str, list[str]] = {}
    for row in table.rows:
        for column, cell in zip(table.columns, row.cells, strict=True):
            if cell.best:
                marked.setdefault(column.name, []).append(row.cells[0].text)
    return marked


def runs_of(label: str, rate: int, count: int = 5) -> list[Document]:
    """Runs that differ by little from each other."""
    return [result(configuration(label), run, rate + run) for run in range(1, count + 1)]


def test_best_is_the_most_throughput_and_the_least_of_everything_else() -> None:
    (table,) = tables_of(*runs_of("iovalkey", 3000), *runs_of("valkey-glide", 2000))
    marked = best_of(table)
    assert marked == {name: ["iovalkey"] for name in ("Throughput", "p50", "p99")}


def test_nothing_is_best_where_no_difference_was_shown() -> None:
    (table,) = tables_of(*runs_of("iovalkey", 3000), *runs_of("valkey-glide", 2990))
    assert best_of(table) == {}


def test_percentile_with_too_few_samples_is_never_best() -> None:
    (table,) = tables_of(*runs_of("iovalkey", 3000), *runs_of("valkey-glide", 1000))
    assert "p50" in best_of(table)
    assert "p99" not in best_of(table)
    marks = [[cell.marks for cell in row.cells if cell.marks] for row in table.rows]
    assert [len(marks_of_row) for marks_of_row in marks] == [1, 2]


def test_nothing_is_best_across_stores() -> None:
    (table,) = tables_of(*runs_of("iovalkey", 2000), *runs_of("ioredis", 9000))
    assert best_of(table) == {}


def test_figures_are_medians_with_their_range() -> None:
    """Five runs: that of median throughput has the highest p99 of all."""
    slow = {20_000: 8_009, 90_000: 1_000}
    rates = (2000, 2001, 2002, 2003, 2004)
    (table,) = tables_of(
        *(
            result(configuration(), run, rate, allowed_us=slow if run == 3 else None)
            for run, rate in enumerate(rates, start=1)
        )
    )
    p99 = next(
        cell
        for column, cell in zip(table.columns, table.rows[0].cells, strict=True)
        if column.name == "p99"
    )
    low, high = map(float, p99.range.split("–"))
    assert low <= float(p99.text) < high
    assert not p99.marks


def test_standalone_cluster_and_controls_have_tables_of_their_own() -> None:
    labels = ("none", "iovalkey:cluster", "memory", "iovalkey")
    tables = tables_of(*(result(configuration(label)) for label in labels))
    assert [table.title for table in tables] == ["Standalone", "Cluster", "Controls"]
    rows = [[row.cells[0].text for row in table.rows] for table in tables]
    assert rows == [["iovalkey"], ["iovalkey"], ["memory", "none"]]


def role(kind: Caps, cpu: float | None) -> Resource:
    return Resource(kind, "test", cpu_us=0, cpu_percent=1, samples=[], cpu_us_per_request=cpu)


def test_roles_of_a_kind_are_added_up_whatever_their_ids() -> None:
    roles = {
        "generator-1": role("generator", 40),
        **{f"store-{number}": role("store", 2) for number in range(1, 7)},
        "server-1": role("server", 60),
        "any other id": role("server", 62),
    }
    assert list(cpu_us_per_request(roles).items()) == [
        ("server", 122),
        ("store", 12),
        ("generator", 40),
    ]


def test_sum_without_one_of_its_parts_is_no_sum() -> None:
    roles = {
        "store-1": role("store", 5),
        "store-2": role("store", None),
        "server-1": role("server", 60),
    }
    assert cpu_us_per_request(roles) == {"server": 60}
