"""The first thing on the page: right in every case, and never more than was shown."""

import re
from typing import Any

import pytest

from builder import Document, configuration, failed_result, result, verdict
from campaign_writer import manifest
from report.analysis.campaign_analysis import analyse
from report.results.convert import run_of
from report.results.model import Campaign, Run
from report.results.plans import rankings_of
from report.results.validate import validate_result
from report.sections.recommendation import Recommendation, command_again, recommend

STEADY = (0.997, 0.999, 1.0, 1.001, 1.003)
WIDE = (1.0, 0.95, 1.05, 0.97, 1.02)


def runs_of(
    label: str, rate: int, factors: tuple[float, ...] = STEADY, cpu_us: float = 60, **changes: Any
) -> list[Document]:
    documents = [
        result(configuration(label, **changes), run, int(rate * factor))
        for run, factor in enumerate(factors, start=1)
    ]
    for number, document in enumerate(documents):
        document["resources"]["server-1"]["cpu_us_per_request"] = cpu_us * (1 + number / 500)
    return documents


def recommended(*results: Document, **manifested: Any) -> Recommendation:
    runs: tuple[Run, ...] = tuple(
        run_of(validate_result(document), f"{number}.json")
        for number, document in enumerate(results)
    )
    configurations = [document["configuration"] for document in results]
    document = manifest(configurations, **manifested)
    rankings = rankings_of(document, (), runs)
    campaign = Campaign(name="test", manifest=document, rankings=rankings, counted=runs)
    return recommend(analyse(campaign))


def test_cpu_at_capacity_is_told_where_the_throughput_is_not_decided() -> None:
    dear = recommended(
        *runs_of("iovalkey", 6000, WIDE), *runs_of("valkey-glide", 5990, WIDE, cpu_us=108)
    )
    assert dear.lead.startswith(
        "On this machine not decided: valkey-glide against iovalkey. valkey-glide uses 1.80"
    )
    assert dear.decide.startswith("To decide ")
    slower = recommended(*runs_of("iovalkey", 6000), *runs_of("valkey-glide", 5000, cpu_us=108))
    assert "slower" in slower.lead and "uses" not in slower.lead


def test_who_is_shown_to_be_the_fastest() -> None:
    recommendation = recommended(*runs_of("iovalkey", 6000), *runs_of("valkey-glide", 5000))
    assert recommendation.lead.startswith(
        "On this machine iovalkey is the fastest. valkey-glide (0.83×, 0.83–0.84×) is slower than iovalkey."
    )
    assert (recommendation.decide, recommendation.command) == ("", "")


def test_some_differ_and_others_do_not() -> None:
    tied = (*runs_of("iovalkey", 6000, WIDE), *runs_of("ioredis@valkey", 5990, WIDE))
    recommendation = recommended(*tied, *runs_of("valkey-glide", 3000, WIDE))
    assert "fastest" not in recommendation.lead
    assert (
        "are slower" not in recommendation.lead
        and ") is slower than iovalkey." in recommendation.lead
    )
    assert "Not decided: ioredis@valkey against iovalkey." in recommendation.lead


def test_fewer_than_five_runs_say_what_it_takes() -> None:
    recommendation = recommended(
        *runs_of("iovalkey", 6000, STEADY[:3]), *runs_of("valkey-glide", 5000, STEADY[:3])
    )
    assert recommendation.lead.startswith(
        "Nothing is decided: iovalkey and valkey-glide have 3 runs each that count"
    )
    assert recommendation.decide == "To decide, make about 5 runs of each (10 runs):"
    assert recommendation.command == "./scripts/run-all.sh --quick --seed 7 --runs 5"


def test_the_advice_is_the_number_beside_the_row_that_it_names() -> None:
    recommendation = recommended(
        *runs_of("iovalkey", 6000, WIDE),
        *runs_of("ioredis@valkey", 5990, WIDE),
        *runs_of("valkey-glide", 5600, WIDE),
    )
    assert re.search(r"To decide valkey-glide, make about \d+ runs of each", recommendation.decide)


def test_other_programs_in_many_runs_are_in_the_headline_and_are_the_advice() -> None:
    disturbed = [*runs_of("iovalkey", 6000, WIDE), *runs_of("valkey-glide", 5990, WIDE)]
    for document in disturbed:
        document["host_load"] = {
            "cpus": 2,
            "busy_cpu_percent": 150,
            "foreign_cpu_percent": 104,
        }
        document["verdict"] = verdict("suspect", ("M25", "other programs used 104 %"))
    recommendation = recommended(*disturbed)
    assert "Other programs used 104 % of one CPU in 10 of 10 runs." in recommendation.lead
    assert "To decide, stop the other programs" in recommendation.decide
    assert "make about" not in recommendation.decide
    assert recommendation.command.endswith("--runs 5")


@pytest.mark.parametrize(
    ("results", "lead"),
    [
        (runs_of("iovalkey", 6000), "Only iovalkey was measured"),
        (runs_of("none", 6000), "Only controls were measured"),
        ([failed_result(configuration("iovalkey"), 1)], "No run counts"),
    ],
)
def test_what_nothing_can_be_compared_with_is_said(results: list[Document], lead: str) -> None:
    recommendation = recommended(*results)
    assert recommendation.lead.startswith(lead)
    assert recommendation.decide


def test_clients_on_different_stores_are_not_compared() -> None:
    recommendation = recommended(*runs_of("iovalkey", 6000), *runs_of("ioredis", 3000))
    assert "ioredis and iovalkey ran on different stores (redis and valkey)" in recommendation.lead
    assert "ioredis@valkey" in recommendation.decide


def test_of_several_comparisons_the_first_that_is_decided_leads() -> None:
    recommendation = recommended(
        *runs_of("iovalkey", 6000),
        *runs_of("valkey-glide", 5000),
        *runs_of("iovalkey", 6000, WIDE, traffic="fixed"),
        *runs_of("valkey-glide", 6000, WIDE, traffic="fixed"),
    )
    assert recommendation.lead.startswith(
        "On this machine, realistic: iovalkey is the fastest. valkey-glide (0.83×, "
    )
    assert recommendation.lead.endswith(" is slower than iovalkey. 1 more comparison is below.")
    assert [line.text.partition(":")[0] for line in recommendation.lines] == ["Fixed", "Realistic"]


def test_other_programs_beside_one_row_are_told_and_decide_nothing() -> None:
    busy = runs_of("valkey-glide", 5000)
    quiet = runs_of("iovalkey", 6000)
    for documents, percent in ((busy, 40), (quiet, 1)):
        for document in documents:
            document["host_load"] = {
                "cpus": 2,
                "busy_cpu_percent": 150,
                "foreign_cpu_percent": percent,
            }
    recommendation = recommended(*busy, *quiet)
    reason = "other programs used 1 % of one CPU beside iovalkey and 40 % beside valkey-glide"
    assert "fastest" not in recommendation.lead and f"because {reason}." in recommendation.lead
    assert f"Not judged: {reason}." in [line.text for line in recommendation.caveats]
    assert "close other programs" in recommendation.decide


@pytest.mark.parametrize(
    ("command", "wanted"),
    [
        ("./run-all.sh --clients a --runs 3", "./run-all.sh --clients a --runs 10"),
        (
            "./run-all.sh --runs=auto --budget '20 m' --clients a",
            "./run-all.sh --clients a --runs 10",
        ),
        ("./run-all.sh --quick", "./run-all.sh --quick --runs 10"),
    ],
)
def test_the_command_asks_for_so_many_runs(command: str, wanted: str) -> None:
    assert command_again(command, 10) == wanted


def test_only_limits_that_hold_are_told() -> None:
    recommendation = recommended(
        *runs_of("iovalkey", 6000), *runs_of("valkey-glide", 5000), conditions=[]
    )
    same = recommended(
        *runs_of("iovalkey+same-script", 6000),
        *runs_of("valkey-glide+same-script", 5000),
        conditions=[],
    )
    assert any("client and script together" in line.text for line in recommendation.caveats)
    assert [line.text for line in same.caveats] == [
        "p99 and server CPU per request are those at full load (a closed loop), where they follow from the "
        "throughput: --rate measures them at your rate."
    ]


def test_a_client_close_to_the_ceiling_is_told() -> None:
    recommendation = recommended(
        *runs_of("iovalkey", 9500), *runs_of("valkey-glide", 5000), *runs_of("none", 10_000)
    )
    assert any(
        "(0.95× of none): the harness may limit it" in line.text for line in recommendation.caveats
    )
