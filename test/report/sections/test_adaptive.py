"""A campaign that finds out how many runs it needs, from its folder to its page."""

import io
import json
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import pytest

from builder import Document, configuration, hash_of, result
from campaign_writer import manifest, write_campaign
from report.analysis.campaign_analysis import analyse
from report.analysis.figures import throughput
from report.analysis.row_pairs import sample_between
from report.analysis.summary import summarize
from report.cli.decide_rounds_command import main as decide_rounds
from report.cli.generate_command import main as generate
from report.compare.compare_sides import compare_sides
from report.compare.comparison_metrics import METRICS
from report.compare.selection import CampaignReader
from report.results.load import load_campaign
from report.sections.adaptive import adaptive_of

LOOKS = [5, 7, 10, 14, 20]
FAST, SLOW, CONTROL = (configuration(label) for label in ("valkey-glide", "iovalkey", "none"))


def campaign(folder: Path, runs: dict[str, int], adaptive: Document | None = None) -> Path:
    """Steady runs; the fast one is a fifth faster."""
    sides = [(FAST, 2400), (SLOW, 2000), (CONTROL, 5000)]
    manifested = manifest([config for config, _ in sides], runs=20)
    manifested["plan"]["adaptive"] = {"looks": LOOKS}
    rounds = {hash_of(config): runs[config["target"]["label"]] for config, _ in sides}
    manifested["adaptive"] = {"rounds": rounds, "looked": 0, "spent_s": 1, **(adaptive or {})}
    results = [
        result(config, run, rate + 2 * (run % 5))
        for config, rate in sides
        for run in range(1, rounds[hash_of(config)] + 1)
    ]
    return write_campaign(folder, manifested, results)


def end(round_: int, reason: str = "decided") -> dict[str, Any]:
    end_record = {"round": round_, "why": reason, "concluded": [], "not_concluded": []}
    return {"looked": round_, "ended": end_record}


def ask(folder: Path, *words: str) -> dict[str, Any]:
    with redirect_stdout(io.StringIO()) as printed:
        assert decide_rounds([str(folder), *words]) == 0
    decision: dict[str, Any] = json.loads(printed.getvalue())
    return decision


def test_after_a_round_it_says_who_goes_on_and_why_the_others_do_not(tmp_path: Path) -> None:
    folder = campaign(tmp_path / "c", {"valkey-glide": 5, "iovalkey": 5, "none": 5})
    decision = ask(folder, "--round", "5")
    go_on = {row["label"]: row["goes_on"] for row in decision["configurations"]}
    assert go_on == {"iovalkey": False, "valkey-glide": False, "none": True}
    assert decision["concluded"] == [
        "iovalkey is slower than valkey-glide (0.83×, 0.83–0.84×, 5 runs per side)"
    ]
    assert decision["not_concluded"] == [
        "none, light · realistic · 50 connections · 5 s: 5 runs that count are too few for an interval: "
        "it takes 6"
    ]


def test_runs_that_were_not_needed_are_not_missing_and_the_page_says_what_came_of_it(
    tmp_path: Path,
) -> None:
    folder = campaign(tmp_path / "c", {"valkey-glide": 5, "iovalkey": 5, "none": 10}, end(10))
    assert generate([str(folder)]) == 0
    summary = json.loads((folder / "report" / "summary.json").read_text(encoding="utf-8"))
    assert [row["missing_runs"] for row in summary["configurations"]] == [0, 0, 0]
    adaptive = summary["adaptive"]
    assert adaptive["sentence"] == (
        "It ended because all that could be decided was decided: 20 runs, of at most 60."
    )
    assert {row["label"]: (row["runs"], row["reason"]) for row in adaptive["configurations"]} == {
        "valkey-glide": (5, "its order is decided"),
        "iovalkey": (5, "its order is decided"),
        "none": (10, "its interval is tight, at two looks in a row"),
    }
    page = (folder / "report" / "index.html").read_text(encoding="utf-8")
    assert "How many runs it took" in page
    assert ">missing<" not in page
    # The ranking says what the looks decided, at their levels.
    (pair,) = summary["conclusions"][0]["comparisons"]
    assert pair["conclusion"] == "slower"
    assert pair["interval"]["coverage"] > 0.98


def test_runs_that_were_asked_for_and_are_not_there_are_missing(tmp_path: Path) -> None:
    folder = campaign(tmp_path / "c", {"valkey-glide": 5, "iovalkey": 5, "none": 5})
    for path in folder.glob("*_run5.json"):
        path.unlink()
    analysis = analyse(load_campaign(folder))
    assert [row.missing for row in analysis.summaries] == [(5,), (5,), (5,)]
    adaptive = adaptive_of(analysis)
    assert adaptive is not None
    assert adaptive.ended is None
    assert {reason for _, _, reason in adaptive.rows} == {"it was interrupted"}


def test_a_comparison_within_it_says_that_it_looks_once_more(tmp_path: Path) -> None:
    folder = campaign(tmp_path / "c", {"valkey-glide": 5, "iovalkey": 5, "none": 7}, end(7))
    side = CampaignReader()
    sides = side.select(folder, "iovalkey"), side.select(folder, "valkey-glide")
    outcome = compare_sides(*sides, METRICS["throughput"], 0.02, frozenset({"script"}))
    assert any("--runs auto" in note for note in outcome.notes)


def test_a_fixed_number_of_runs_has_nothing_of_it(tmp_path: Path) -> None:
    folder = write_campaign(tmp_path / "c", manifest([SLOW], runs=1), [result(SLOW)])
    assert adaptive_of(analyse(load_campaign(folder))) is None


def in_groups(folder: Path, fast: int, rounds: int = 5) -> Path:
    """A reference, its copy and another one, next to each other."""
    sides = [(SLOW, 2000), (configuration("iovalkey+copy"), 2000), (FAST, fast)]
    manifested = manifest([config for config, _ in sides], runs=20)
    plan = manifested["plan"]
    plan |= {"adaptive": {"looks": LOOKS}, "references": [hash_of(SLOW)]}
    for run in plan["runs"]:
        run |= {"round": run["run"], "group": 1}
    rounds_by_hash = {hash_of(config): rounds for config, _ in sides}
    manifested["adaptive"] = {"rounds": rounds_by_hash, "looked": 0, "spent_s": 1}
    results = [
        result(config, run, rate + 40 * (run % 5) + number)
        for number, (config, rate) in enumerate(sides)
        for run in range(1, rounds + 1)
    ]
    return write_campaign(folder, manifested, results)


@pytest.mark.parametrize(("fast", "goes_on"), [(3000, False), (2050, True)])
def test_a_copy_and_its_reference_are_measured_as_long_as_any_other(
    tmp_path: Path, fast: int, goes_on: bool
) -> None:
    decision = ask(in_groups(tmp_path / "c", fast), "--round", "5")
    assert {row["label"]: row["goes_on"] for row in decision["configurations"]} == {
        "iovalkey": goes_on,
        "valkey-glide": goes_on,
        "iovalkey+copy": goes_on,
    }
    assert len(decision["concluded"]) + len(decision["not_concluded"]) == 1


def test_groups_in_which_nothing_was_compared_any_more_are_not_missing(tmp_path: Path) -> None:
    """The other one stopped after five rounds: the reference was asked for ten, and had nothing to
    do."""
    folder = in_groups(tmp_path / "c", 3000)
    manifested = json.loads((folder / "manifest.json").read_text())
    copy = hash_of(configuration("iovalkey+copy"))
    manifested["adaptive"]["rounds"] |= {hash_of(SLOW): 10, copy: 5}
    (folder / "manifest.json").write_text(json.dumps(manifested))
    assert {row.missing for row in analyse(load_campaign(folder)).summaries} == {()}


def by_turns(folder: Path, count: int) -> Path:
    """Two groups a round, the reference in each and the control in one, on a host that changes from
    group to group; the fast one is a fifth faster."""
    slow = SLOW
    fast = FAST
    ioredis = configuration("ioredis@valkey")
    control = CONTROL
    manifested = manifest([slow, fast, ioredis, control], runs=20)
    plan = manifested["plan"]
    groups = [(slow, fast), (slow, ioredis, control)]
    rates = {"iovalkey": 2000, "valkey-glide": 2400, "ioredis@valkey": 2000, "none": 5000}
    entries = []
    results = []
    numbers: dict[str, int] = {}
    for round_ in range(1, 21):
        for group, members in enumerate(groups, start=1):
            host = 1 + (7 * round_ + 3 * group) % 5 / 2
            for config in members:
                label = config["target"]["label"]
                run = numbers[label] = numbers.get(label, 0) + 1
                entry = {
                    "configuration_hash": hash_of(config),
                    "run": run,
                    "round": round_,
                    "group": group,
                    "file": f"{label}_run{run}.json",
                }
                entries.append(entry if config in (fast, ioredis) else {**entry, "beside": True})
                if round_ <= count:
                    variation = 1 + (round_ % 3 if config is ioredis else 0) / 10
                    results.append(result(config, run, round(rates[label] * host * variation)))
    plan |= {"order": "turns", "runs": entries, "adaptive": {"looks": [9, 13, 20]}}
    plan["references"] = [hash_of(slow)]
    rounds = {hash_of(config): count for config in (slow, fast, ioredis, control)}
    manifested["adaptive"] = {"rounds": rounds, "looked": 0, "spent_s": 1}
    return write_campaign(folder, manifested, results)


def test_by_turns_a_target_is_decided_by_pairs_and_a_control_stays_beside_the_others(
    tmp_path: Path,
) -> None:
    folder = by_turns(tmp_path / "c", 9)
    decision = ask(folder, "--round", "9")
    assert {row["label"]: row["goes_on"] for row in decision["configurations"]} == {
        "iovalkey": True,
        "valkey-glide": False,
        "ioredis@valkey": True,
        "none": True,
    }
    assert any("valkey-glide is faster than iovalkey" in text for text in decision["concluded"])


def test_by_turns_a_control_is_compared_by_the_groups_that_it_shares(tmp_path: Path) -> None:
    cells = analyse(load_campaign(by_turns(tmp_path / "c", 9))).cells
    (ceiling,) = cells[0].ceilings
    # The fast one has the highest throughput, and was in another group.
    assert ceiling.new.identity.label in ("iovalkey", "ioredis@valkey")
    assert ceiling.base.identity.label == "none"
    assert (ceiling.comparison.pairs, ceiling.comparison.status) == (9, "worse")


def test_by_turns_rows_that_share_no_group_are_compared_as_runs_of_other_moments(
    tmp_path: Path,
) -> None:
    campaign = load_campaign(by_turns(tmp_path / "c", 9))
    rows = {row.identity.label: row for row in summarize(campaign)}
    separate_groups = sample_between(rows["valkey-glide"], rows["ioredis@valkey"], throughput)
    same_group = sample_between(rows["valkey-glide"], rows["iovalkey"], throughput)
    assert (separate_groups.together, same_group.together) == (False, True)
    assert len(same_group.pairs) == 9
