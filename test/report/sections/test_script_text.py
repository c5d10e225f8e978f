"""Client and script are told apart: groups, what a group says of its scripts, and what tells groups
apart."""

import re

import pytest

from builder import Document, configuration, configuration_without_algorithm, failed_result, result
from campaign_writer import manifest
from conftest import Build, ranks_of, summaries_of
from evidence import VALKEY_SHA1
from report.analysis.cells import Cell, cells
from report.sections.script_text import difference, disclosure, mode_text

Labels = list[str]


def cell_of(*results: Document) -> Cell:
    (cell,) = cells(summaries_of(*results))
    return cell


def measured(label: str, requests_per_second: int = 1000, run: int = 1) -> Document:
    return result(configuration(label), run, requests_per_second)


def groups(cell: Cell) -> list[tuple[str, bool, Labels]]:
    return [
        (
            ranking.properties.store or "?",
            ranking.properties.same_script,
            [s.identity.label for s in ranking.summaries],
        )
        for ranking in cell.rankings
    ]


FACTORIAL = {
    "valkey-glide": 1000,
    "iovalkey": 2000,
    "node-redis@valkey": 1500,
    "valkey-glide+same-script": 1200,
    "iovalkey+same-script": 1600,
    "node-redis@valkey+same-script": 1500,
    "iovalkey+autopipelining+same-script": 2400,
}


def factorial() -> Cell:
    return cell_of(*(measured(label, value) for label, value in FACTORIAL.items()))


def test_nothing_is_ranked_across_scripts() -> None:
    assert groups(factorial()) == [
        (
            "valkey",
            True,
            [
                "iovalkey+autopipelining+same-script",
                "iovalkey+same-script",
                "node-redis@valkey+same-script",
                "valkey-glide+same-script",
            ],
        ),
        ("valkey", False, ["iovalkey", "node-redis@valkey", "valkey-glide"]),
    ]


def test_each_group_discloses_its_scripts() -> None:
    same, own = (disclosure(ranking) for ranking in factorial().rankings)
    assert same == (
        "The script of RateLimiterRedis, a1de965f, by EVALSHA (iovalkey, valkey-glide) and EVAL (node-redis)."
        " EVAL sends the script’s text with every call."
    )
    assert own == (
        "iovalkey: EVALSHA 0aa93fe6; node-redis: EVAL a1de965f; valkey-glide: FCALL consume. "
        "A difference is one of client and script together."
    )


def test_own_scripts_that_are_the_same_are_said_to_be() -> None:
    cell = cell_of(measured("ioredis"), measured("node-redis"))
    assert disclosure(cell.rankings[0]) == (
        "All run the same script, a1de965f, by EVALSHA (ioredis) and EVAL (node-redis). "
        "EVAL sends the script’s text with every call."
    )


def test_functions_of_one_name_are_not_called_identical() -> None:
    function = {"kind": "fcall", "name_or_sha1": "consume"}
    cell = cell_of(
        measured("valkey-glide"), result(configuration("iovalkey"), limiter_script=function)
    )
    assert "same script" not in disclosure(cell.rankings[0])
    assert cell.rankings[0].one_script is None


@pytest.mark.parametrize(
    ("labels", "differ"),
    [
        (["iovalkey", "valkey-glide"], []),
        (["iovalkey+same-script", "valkey-glide+same-script"], []),
        (["ioredis@valkey", "ioredis"], ["stores"]),
        (["iovalkey", "iovalkey+same-script"], ["scripts"]),
        (["iovalkey", "ioredis"], ["stores", "scripts"]),
        (["iovalkey", "valkey-glide", "ioredis+same-script"], ["stores", "scripts"]),
        # One script, whoever chose it.
        (["ioredis", "ioredis+same-script"], []),
    ],
)
def test_what_differs_between_groups_is_said(labels: list[str], differ: list[str]) -> None:
    assert (
        re.findall(r"The (\w+) differ", difference(cell_of(*(measured(label) for label in labels))))
        == differ
    )


def without_script(label: str) -> Document:
    document = measured(label)
    del document["consumers"][0]["limiter_script"]
    return document


def test_one_script_that_is_not_on_record_is_not_ranked(build: Build) -> None:
    labels = ["iovalkey+same-script", "valkey-glide+same-script"]
    results = [without_script(label) for label in labels]
    cell = cell_of(*results)
    assert ranks_of(cell.rankings[0]) == [None, None]
    assert cell.rankings[0].pairs == ()
    page = build(manifest([configuration(label) for label in labels], 1), results).page
    assert "Not compared: one script was asked for all rows, but it was not recorded." in page


def test_row_under_another_script_than_said_is_apart() -> None:
    other = {"kind": "evalsha", "name_or_sha1": VALKEY_SHA1}
    stray = result(configuration("iovalkey+same-script"), limiter_script=other)
    cell = cell_of(
        measured("ioredis@valkey+same-script"), measured("valkey-glide+same-script"), stray
    )
    assert [rows for _, _, rows in groups(cell)] == [
        ["ioredis@valkey+same-script", "valkey-glide+same-script"],
        ["iovalkey+same-script"],
    ]
    assert difference(cell).startswith("The scripts differ: each group names its own.")


def test_row_that_never_ran_stands_where_it_was_meant_to() -> None:
    failed = failed_result(configuration("iovalkey+same-script"), 1)
    cell = cell_of(
        measured("ioredis@valkey+same-script"), measured("valkey-glide+same-script"), failed
    )
    assert groups(cell)[0][2][-1] == "iovalkey+same-script"
    assert len(cell.rankings) == 1


def test_limiters_without_an_algorithm_are_ranked_apart_and_the_difference_is_said() -> None:
    cell = cell_of(
        result(configuration_without_algorithm("ioredis@valkey"), 1, 1000),
        result(configuration_without_algorithm("iovalkey"), 1, 900),
        result(configuration_without_algorithm("ioredis@valkey+fastify-rate-limit"), 1, 1500),
        result(configuration_without_algorithm("iovalkey+fastify-rate-limit"), 1, 1200),
    )
    ranked = [
        (ranking.properties.limiter, [s.identity.label for s in ranking.summaries])
        for ranking in cell.rankings
    ]
    assert ranked == [
        (
            "fastify-rate-limit",
            ["ioredis@valkey+fastify-rate-limit", "iovalkey+fastify-rate-limit"],
        ),
        ("rate-limiter-flexible", ["ioredis@valkey", "iovalkey"]),
    ]
    assert difference(cell).startswith(
        "The limiters differ: fastify-rate-limit and rate-limiter-flexible."
    )
    assert mode_text(cell.rankings[0]) == "the limiter fastify-rate-limit"
    assert "limiters differ" not in difference(factorial())


def test_clients_are_never_ranked_across_the_origin_of_their_settings() -> None:
    labels = [
        "iovalkey",
        "ioredis@valkey",
        "iovalkey+tuned",
        "ioredis@valkey+tuned",
        "iovalkey+defaults",
    ]
    cell = cell_of(*(measured(label, 1000 + 100 * place) for place, label in enumerate(labels)))
    assert [names for _, _, names in groups(cell)] == [
        ["ioredis@valkey", "iovalkey"],
        ["iovalkey+defaults"],
        ["ioredis@valkey+tuned", "iovalkey+tuned"],
    ]
    assert [mode_text(ranking) for ranking in cell.rankings] == [
        "each client's own script",
        "each client's own script, each library's default settings",
        "each client's own script, the settings that each library's maintainers recommend",
    ]
    assert (
        "The clients' settings differ: those that all clients share, each library's default settings and the "
        "settings that each library's maintainers recommend."
    ) in difference(cell)


def test_web_frameworks_are_ranked_together_only_when_asked() -> None:
    labels = ["iovalkey", "ioredis@valkey", "iovalkey+express"]
    rows = [measured(label, 1000 + 100 * place) for place, label in enumerate(labels)]
    cell = cell_of(*rows)
    assert [names for _, _, names in groups(cell)] == [
        ["ioredis@valkey", "iovalkey"],
        ["iovalkey+express"],
    ]
    assert mode_text(cell.rankings[1]).endswith("on express")
    assert "frameworks differ: fastify and express" in difference(cell)


def test_protocols_are_disclosed_where_they_differ() -> None:
    def spoke(label: str, protocol: str) -> Document:
        document = measured(label)
        document["consumers"][0]["client_settings"] = {"protocol": protocol}
        return document

    mixed = cell_of(spoke("iovalkey+tuned", "RESP2"), spoke("ioredis@valkey+tuned", "RESP3"))
    assert "The protocols differ: RESP2 (iovalkey) and RESP3 (ioredis)." in disclosure(
        mixed.rankings[0]
    )
    same = cell_of(spoke("iovalkey", "RESP2"), spoke("ioredis@valkey", "RESP2"))
    assert "protocol" not in disclosure(same.rankings[0])
