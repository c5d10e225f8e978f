"""Answers and rankings of the page above all campaigns that its own fixture does not show."""

from pathlib import Path

from builder import configuration, result
from campaign_writer import manifest, write_campaign
from report.analysis.campaign_analysis import analyse
from report.results.load import load_campaign
from report.site.answers import answers
from report.site.audits import AuditedTarget, AuditEntry
from report.site.entry import ANY, entry_of


def _audited(label: str, *broken: str, skipped: int = 0) -> AuditedTarget:
    return AuditedTarget(
        label=label,
        algorithm="fixed window",
        broken=broken,
        held=8 - len(broken) - skipped,
        failed=0,
        skipped=skipped,
        failover="",
        seen="",
        values=ANY,
    )


def _exactness(*targets: AuditedTarget) -> tuple[str, list[tuple[str, ...]]]:
    """Text and cells of the answer to the question of exactness."""
    audit = AuditEntry(
        name="a",
        address="audits/a/",
        started_at="2026-01-02T00:00:00.000Z",
        sentence="",
        command="",
        runtime="local",
        checks=8,
        targets=targets,
        statuses={},
    )
    exact = next(each for each in answers([], [audit]) if each.id == "exact")
    return " ".join(line.text for line in exact.lines), [row.cells for row in exact.rows]


def test_who_breaks_most_promises_is_named_first_and_never_among_the_rest() -> None:
    once = [_audited(f"client-{number}", "Expiry") for number in range(7)]
    text, _ = _exactness(*once, _audited("worst", "Exact burst", "Window edge"))
    assert "broken by worst (“Exact burst” and “Window edge”); client-0 (“Expiry”); " in text
    assert "and 2 more" in text


def test_checks_that_were_skipped_are_counted_beside_those_that_hold() -> None:
    _, (all_made, some_skipped) = _exactness(_audited("a"), _audited("b", skipped=1))
    assert all_made[-1] == "8 of 8 checks hold"
    assert some_skipped[-1] == "7 of 8 checks hold, 1 skipped"


def test_rankings_that_differ_in_script_alone_have_names_of_their_own(tmp_path: Path) -> None:
    clients = ("iovalkey", "valkey-glide")
    labels = [*clients, *(f"{client}+same-script" for client in clients)]
    configurations = [configuration(label) for label in labels]
    results = [
        result(configured, run, 4000 + 10 * run + 50 * place)
        for place, configured in enumerate(configurations)
        for run in range(1, 6)
    ]
    folder = tmp_path / "20260102_030405"
    write_campaign(folder, manifest(configurations, 5), results)
    campaign = load_campaign(folder)
    entry = entry_of(campaign, analyse(campaign), folder, "results/a/")
    assert sorted(family.where for family in entry.families) == [
        "valkey, decided by a library",
        "valkey, decided by a library, one script for all",
    ]
