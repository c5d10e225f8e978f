"""The host's speed on the page: the strip, and adjusted ratios below the plain ones."""

from builder import Document, configuration, result
from conftest import Build, analysis_of_results
from page_reader import data_of, read
from report.sections.host_speed import adjusted_rows

#: What the host did beside the two runs of each round, and what else moved them, in %.
ROUNDS = [(4, -3), (-2, 5), (3, 1), (-4, 2), (1, -5), (5, 4), (-3, -1), (0, 3)]
REST = [(0.3, -0.2), (-0.1, 0.4), (0.2, 0.1), (-0.3, 0.0), (0.1, -0.4), (0.0, 0.2), (0.4, -0.1), (-0.2, 0.3)]


def documents() -> list[Document]:
    """ioredis is 10 % slower than iovalkey, and both follow the host."""
    found = []
    for number, (hosts, rest) in enumerate(zip(ROUNDS, REST, strict=True), start=1):
        sides = (("iovalkey", 20_000), ("ioredis", 18_000))
        for (label, rate), host, other in zip(sides, hosts, rest, strict=True):
            times = {
                "integer_us": 15_000 / (1 + host / 100),
                "chase_us": 12_000.0,
                "cpus": 2,
            }
            found.append(
                result(
                    configuration(f"{label}@valkey"),
                    number,
                    round(rate * (1 + host / 100) * (1 + other / 100)),
                    host_speed={"before": times, "after": times},
                    started_at=f"2026-01-02T03:{2 * number:02}:{'00' if label == 'iovalkey' else '30'}.000Z",
                    finished_at=f"2026-01-02T03:{2 * number:02}:{'15' if label == 'iovalkey' else '45'}.000Z",
                )
            )
    return found


def test_the_adjusted_ratio_stands_beside_the_plain_one_and_decides_nothing() -> None:
    analysis = analysis_of_results(*documents())
    (row,) = adjusted_rows(analysis)
    assert row.rows == "ioredis@valkey ÷ iovalkey@valkey"
    assert row.adjusted.startswith("0.90×, 0.90–0.90×")
    assert row.note == "8 rounds"
    (cell,) = analysis.cells
    (pair,) = cell.rankings[0].pairs
    # The plain interval is as wide as the host makes it.
    assert pair.comparison.interval is not None
    assert pair.comparison.interval.high - pair.comparison.interval.low > 0.03


def test_page_folds_it_under_method_and_draws_the_host(build: Build) -> None:
    outcome = build(None, documents())
    assert outcome.code == 0, outcome.err
    page = outcome.page
    assert page.index('id="method"') < page.index('id="adjusted"')
    assert "The plain ratio decides everywhere" in page
    drawn = data_of(read(page))["figures"]["host-speed"]
    assert len(drawn["data"]) == 2
    first = next(trace for trace in drawn["data"] if "iovalkey" in trace["name"])
    assert first["x"][:3] == [0, 0.25, None]
    assert len(first["x"]) == 3 * len(ROUNDS)
    # A host that is 4 % faster stands above 1, whatever the median is.
    assert first["y"][0] > 1.02


def test_too_few_rounds_show_no_table() -> None:
    assert adjusted_rows(analysis_of_results(*documents()[:10])) == ()
