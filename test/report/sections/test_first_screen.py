"""What the answer says of rows that were compared, and what it does not say."""

import re

import pytest

from builder import configuration, result
from conftest import summaries_of
from evidence import slices
from report.analysis.cells import cells
from report.export.summary_json import conclusions
from report.sections.decision_table import decision_cells

JITTER = (0.997, 0.999, 1.0, 1.001, 1.003)
WIDE = (1.04, 0.90, 1.1, 1.0, 0.96)


LABELS = {"iovalkey": "iovalkey", "ioredis": "ioredis@valkey", "node_redis": "node-redis@valkey"}


def rows(**throughputs: tuple[float, tuple[float, ...]]) -> list[dict[str, object]]:
    """Five runs of each target (`_` for `-`), its throughput times each factor."""
    return [
        result(configuration(f"{LABELS[client]}+same-script"), run, int(typical * factor))
        for client, (typical, factors) in throughputs.items()
        for run, factor in enumerate(factors, start=1)
    ]


def sentence_of(*results: dict[str, object]) -> str:
    (answer,) = decision_cells(cells(summaries_of(*results)))
    return answer.groups[0].sentence


def test_who_is_not_told_apart_shares_the_top() -> None:
    text = sentence_of(
        *rows(iovalkey=(6000, JITTER), ioredis=(5990, JITTER), node_redis=(5700, WIDE))
    )
    assert "fastest" not in text
    assert (
        "The throughput of ioredis@valkey+same-script (1.00×, 0.99–1.00×) is within ±2 % of that of "
        "iovalkey+same-script." in text
    )
    assert "against iovalkey+same-script is not decided, because" in text
    assert re.search(
        r"because the interval reaches into and beyond ±2 %; about \d+ runs per side would", text
    )


def test_five_targets_of_five_runs_are_too_few_for_ten_comparisons() -> None:
    labels = [
        "valkey-glide",
        "iovalkey",
        "ioredis@valkey",
        "node-redis@valkey",
        "iovalkey+autopipelining",
    ]
    results = [
        result(configuration(f"{label}+same-script"), run, int((6000 - 500 * place) * factor))
        for place, label in enumerate(labels)
        for run, factor in enumerate(JITTER, start=1)
    ]
    (answer,) = decision_cells(cells(summaries_of(*results)))
    assert (
        "5 runs per side are too few for 10 comparisons in one family" in answer.groups[0].sentence
    )
    assert "about 6 runs per side would decide" in answer.groups[0].sentence
    assert "fastest" not in answer.groups[0].sentence


def test_one_row_with_few_runs_leaves_the_others_tested() -> None:
    results = rows(iovalkey=(6000, JITTER), ioredis=(5000, JITTER), node_redis=(4000, JITTER[:3]))
    (answer,) = decision_cells(cells(summaries_of(*results)))
    (group,) = answer.groups
    assert (
        "ioredis@valkey+same-script (0.83×, 0.83–0.84×) is slower than iovalkey" in group.sentence
    )
    assert (
        "node-redis@valkey+same-script has 3 runs that count, and a difference takes at least 5"
        in group.sentence
    )
    assert "fastest" not in group.sentence
    ratios = [(row.ratio, row.status) for row in group.rows]
    assert ratios == [
        ("–", ""),
        ("0.83×, 0.83–0.84×", "slower"),
        ("0.67×, 0.66–0.67×", "not decided"),
    ]


def test_warnings_reach_the_row() -> None:
    (answer,) = decision_cells(cells(summaries_of(*rows(iovalkey=(6000, WIDE)))))
    assert [warned.text for warned in answer.warnings] == [
        "iovalkey+same-script: Runs lie far apart: CV 7.6 %, from 5,400 to 6,600 requests/s."
    ]


@pytest.mark.parametrize("ramp_s", [0, 10])
def test_a_ramp_in_the_samples_is_warned_of(ramp_s: int) -> None:
    width = 10 * ramp_s
    answers = [300 if place < width else 500 + place % 3 for place in range(300)]
    summaries = summaries_of(
        *(
            result(configuration(), run, 2000, duration=30, slices=slices(answers))
            for run in (1, 2, 3)
        )
    )
    warnings = summaries[0].warnings
    assert len(warnings) == (1 if ramp_s else 0)
    if ramp_s:
        assert warnings[0].startswith(
            "The warm-up is too short: the first 10 s of the window are 40.1 % slower than the rest"
        )
        assert warnings[0].endswith("(--warmup auto, or 10 s more).")


def test_in_an_open_loop_throughput_tells_nobody_apart() -> None:
    load = {"model": "open", "rate_per_second": 3000, "arrivals": "constant", "connections": 50}
    results = [
        result(configuration(f"{client}+same-script", load=load), run, int(typical * factor))
        for client, typical in (("iovalkey", 3000), ("valkey-glide", 2500))
        for run, factor in enumerate(JITTER, start=1)
    ]
    (answer,) = decision_cells(cells(summaries_of(*results)))
    (group,) = answer.groups
    assert "iovalkey+same-script has the lowest p99." in group.sentence
    assert "throughput" not in group.sentence
    assert [row.status for row in group.rows] == ["better", "worse"]
    (conclusion,) = conclusions(cells(summaries_of(*results)))
    assert conclusion["comparisons"] == []
    assert [pair["conclusion"] for pair in conclusion["latency_p99_comparisons"]] == ["worse"]


def test_programs_are_told_the_same() -> None:
    summaries = summaries_of(
        *rows(iovalkey=(6000, JITTER), ioredis=(5000, JITTER), node_redis=(4000, JITTER))
    )
    (conclusion,) = conclusions(cells(summaries))
    assert conclusion["sentence"] == decision_cells(cells(summaries))[0].groups[0].sentence
    assert [comparison["conclusion"] for comparison in conclusion["comparisons"]] == ["slower"] * 3
    assert {comparison["comparisons_in_family"] for comparison in conclusion["comparisons"]} == {3}
