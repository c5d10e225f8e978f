"""The ten questions of QUESTIONS.md, answered from the page alone."""

import re

from site_page import Site, SitePage


def test_1_the_cheapest_is_named_with_its_store_and_what_it_was_shown_against(page: SitePage) -> None:
    text = page.between("answer-cpu", "answer-p99")
    assert (
        "iovalkey on valkey, decided by a library: 40.2 (40.0–40.2) µs/request at 1,000/s of realistic"
        in text
    )
    assert "shown to cost less than ioredis@valkey and valkey-glide" in text


def test_2_the_lowest_p99_is_that_of_the_newest_campaign_with_its_interval(page: SitePage) -> None:
    text = page.between("answer-p99", "answer-exact")
    assert re.search(r"ioredis@valkey on valkey.*: p99 2\.\d+ .* ms; next iovalkey \(1\.20×, 1\.", text)
    assert "20260102_000000, 2026-01-02" in text
    assert "20260101_000000" not in text


def test_3_who_breaks_a_promise_is_named_with_it(page: SitePage) -> None:
    text = page.between("answer-exact", "answer-failover")
    assert "broken by iovalkey (“Exact burst”); ioredis@valkey (“Failover”)" in text
    assert "did not keep 2 of 4 promises" in text
    table = page.between("all-exact", "all-failover")
    assert "admitted in any window, one key: does not hold promised at most 2.00 quotas, seen 2.40" in table


def test_4_who_recovers_from_the_loss_of_a_primary_and_when(page: SitePage) -> None:
    text = page.between("answer-failover", "silent")
    assert "iovalkey:cluster (after 1.3 s) recovered in every run" in text
    assert "ioredis@valkey:cluster did not recover in every run" in text
    assert "valkey-glide:cluster has no run that counts" in text
    assert "after a failover: ioredis@valkey does not decide on all keys again" in text


def test_5_a_campaign_that_ranks_nothing_says_why_and_which_command_would(page: SitePage) -> None:
    text = page.between("silent", "comparisons-title")
    assert "too unsteady to rank anything: runs of the controls differ by 56 % (none)" in text
    assert "ratelimit-bench run --concurrency 50 --seed 7 --duration-mode fixed30 --runs 10" in text


def test_6_where_and_when_a_figure_is_from(page: SitePage) -> None:
    assert "on Example CPU @ 2.50GHz, 2 CPUs, local" in page.reader.text
    assert "1,000/s constant, up to 200 connections · 12 s; Example CPU @ 2.50GHz, 2 CPUs, local" in (
        page.between("all-cpu", "all-p99")
    )
    assert "20260102_000000 2026-01-02" in page.between("targets", "claims")


def test_7_every_run_of_every_target_is_linked(page: SitePage, site: Site) -> None:
    links = [attributes.get("href") or "" for tag, attributes in page.reader.tags if tag == "a"]
    runs = [link for link in links if re.search(r"_run\d+\.json$", link)]
    assert "results/20260102_000000/02_run3.json" in runs
    results = [
        path.relative_to(site.results.parent).as_posix()
        for path in site.results.rglob("*_run*.json")
        if not path.is_relative_to(site.results / "20260107_000000")
        and not path.is_relative_to(site.results / "20260105_000000")
    ]
    assert sorted(set(results) - set(runs)) == []


def test_8_a_claim_with_its_verdict_and_ratio(page: SitePage) -> None:
    text = page.between("claims", "audits")
    assert "3 claims: 1 does not hold, 1 cannot be told here and 1 not measured yet." in text
    assert re.search(r"A is 35 % faster than B A ✗ does not hold 0\.90×, 0\.\d+–0\.\d+×", text)


def test_9_bytes_per_key_with_their_interval(page: SitePage) -> None:
    text = page.between("memory", "history")
    assert re.search(r"iovalkey valkey 100\.0 \d+\.\d to \d+\.\d counter of the store 20260105_000000", text)


def test_10_what_changed_since_the_last_campaign(page: SitePage) -> None:
    text = page.between("changes-title", "campaigns-title")
    changes = [
        "2026-01-09 Claim: A is 35 % faster than B: does not hold . Before: holds.",
        "2026-01-06 iovalkey: Exact burst is broken . Before, it holds.",
        "2026-01-02 On valkey, decided by a library: ioredis@valkey is the best by p99 and "
        "iovalkey costs least CPU .",
    ]
    places = [text.index(change) for change in changes]
    assert places == sorted(places)
    assert "Before: not measured yet." not in text
