"""What a limiter costs over `none`, and what a web framework costs."""

from builder import Document, configuration, result
from conftest import analysis_of_results
from report.sections.cpu import limiter_cost


def runs(label: str, requests_per_second: int) -> list[Document]:
    configured = configuration(label)
    return [result(configured, run, requests_per_second + run) for run in range(1, 9)]


def tables(*labelled: tuple[str, int]) -> dict[str, list[list[str]]]:
    documents = [each for label, rate in labelled for each in runs(label, rate)]
    section = limiter_cost(analysis_of_results(*documents))
    return {
        table.id: [[cell.plain for cell in row.cells] for row in table.rows]
        for table in (section.tables if section else ())
    }


def test_each_limiter_is_compared_with_none_on_its_framework_and_each_framework_with_the_default_one() -> (
    None
):
    controls = (("none", 6000), ("none+express", 2000))
    found = tables(("iovalkey", 3000), ("iovalkey+express", 1500), ("memory", 4500), *controls)
    beside = {row[0]: (row[1], row[4].split("×")[0], row[5]) for row in found["limiter-cost-rows"]}
    assert beside == {
        "iovalkey": ("none", "0.50", "slower, at least 50 %"),
        "iovalkey+express": ("none+express", "0.75", "slower, at least 25 %"),
        "memory": ("none", "0.75", "slower, at least 25 %"),
    }
    (framework,) = found["framework-cost-rows"]
    assert framework[:2] == ["none+express", "none"]
    assert framework[4].startswith("0.33×")


def test_rows_of_several_nodes_are_compared_with_the_route_on_their_own() -> None:
    old = "node-22.0.0"
    new = "node-24.0.0"
    controls = ((f"none+{old}", 6000), (f"none+{new}", 4000))
    rates = ((f"iovalkey+{old}", 3000), (f"iovalkey+{new}", 3000), *controls)
    found = {row[0]: (row[1], row[4].split("×")[0]) for row in tables(*rates)["limiter-cost-rows"]}
    assert found == {
        f"iovalkey+{old}": (f"none+{old}", "0.50"),
        f"iovalkey+{new}": (f"none+{new}", "0.75"),
    }


def test_without_a_route_without_a_limiter_nothing_is_said() -> None:
    assert tables(("iovalkey", 3000), ("ioredis@valkey", 2900)) == {}
    assert set(tables(("iovalkey", 3000), ("none", 6000))) == {"limiter-cost-rows"}
