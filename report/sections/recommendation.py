"""The recommendation: what these figures show, and what would decide the rest."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from report.analysis.campaign_analysis import Analysis
from report.analysis.comparison_text import name
from report.analysis.layer_text import layer_text
from report.analysis.rankings import Ranking
from report.analysis.runtimes import RuntimeResults
from report.base.format import joined, plural
from report.results.model import Campaign
from report.sections.caveats import caveats_of
from report.sections.first_screen import scopes
from report.sections.max_rate import max_rate_sentence
from report.sections.memory_per_key import memory_text
from report.sections.section import Line
from report.sections.verdict_text import differences, layer_of, shown_text, undecided, winner_text
from report.statistics.power import MAX_RUNS

#: Beyond this number comparisons are counted, and listed one by one in the details.
MAX_LINES = 6

#: The advice asks for at least the first number of runs of each, and for no more than the second.
MIN_ADVISED_RUNS, MAX_ADVISED_RUNS = 10, 100

TOO_FEW = "too few runs decide nothing"

#: Fewer CPUs cannot give each of store, server and load generator some of its own, and leave one to others.
CPUS_FOR_ALL = 4
_OWN_CPUS = (
    "give store, server and load generator CPUs of their own (--cpuset-store, --cpuset-server, "
    "--cpuset-loadtest)"
)
_MORE_CPUS = f"use a machine with at least {CPUS_FOR_ALL} CPUs"


@dataclass(frozen=True, slots=True)
class Recommendation:
    lead: str
    lines: tuple[Line, ...]
    """One per comparison, if there are several."""
    decide: str
    """What would decide what is open; empty where nothing is."""
    command: str
    """The command of it, which ends the sentence; empty without one."""
    caveats: tuple[Line, ...]
    """What the figures do not show."""

    @property
    def sentences(self) -> tuple[str, ...]:
        """All of it but the caveats, a sentence or a few each: for terminals and programs."""
        decide = f"{self.decide} {self.command}".strip()
        return (self.lead, *(line.text for line in self.lines), *([decide] if decide else []))


@dataclass(frozen=True, slots=True)
class _Finding:
    ranking: Ranking
    scope: str
    """How it differs from the others."""
    text: str
    kind: str
    """For counting: `iovalkey is the fastest`, `nothing is decided`, …"""

    @property
    def ids(self) -> str:
        return " ".join(summary.id for summary in self.ranking.summaries)


def _figure(ranking: Ranking) -> str:
    return "p99" if ranking.open_loop else "throughput"


def _open_text(ranking: Ranking) -> str:
    pairs = undecided(ranking)
    if not pairs:
        return ""
    bases = {pair.base.id for pair in pairs}
    rows = list(dict.fromkeys(name(pair.new) for pair in pairs))
    against = f" against {name(pairs[0].base)}" if len(bases) == 1 else ""
    blocked = [pair for pair in pairs if pair.comparison.blocked]
    because = f", because {blocked[0].comparison.reason}" if blocked else ""
    return f"not decided: {joined(rows)}{against}{because}"


def _kind(ranking: Ranking) -> str:
    if ranking.winner:
        return winner_text(ranking)
    if differences(ranking):
        return f"some differ in {_figure(ranking)}"
    if ranking.few_runs:
        return TOO_FEW
    return "nothing is decided"


def _findings(runtimes: Sequence[RuntimeResults]) -> list[_Finding]:
    return [
        _Finding(
            ranking,
            scope,
            shown_text(ranking, [_open_text(ranking)], brief=True) or "Nothing is decided.",
            _kind(ranking),
        )
        for scope, ranking in scopes(runtimes)
        if ranking.compared
    ]


def _counted(findings: Sequence[_Finding]) -> str:
    """`iovalkey is the fastest in 3 of 12 comparisons and nothing is decided in 9.`"""
    (first, number), *others = Counter(finding.kind for finding in findings).most_common()
    total = plural(len(findings), "comparison")
    if not others and first.startswith("nothing "):
        return f"{first} in {'either' if len(findings) == 2 else 'any'} of {total}"
    if not others:
        return f"{first} in {'both comparisons' if len(findings) == 2 else f'all {total}'}"
    rest = [f"{kind} in {count:,}" for kind, count in others]
    return joined([f"{first} in {number:,} of {total}", *rest])


def _without_findings(runtimes: Sequence[RuntimeResults]) -> tuple[str, str]:
    clients = [row for runtime in runtimes for cell in runtime.cells for row in cell.summaries]
    measured = [row for row in clients if row.median]
    if not clients:
        return (
            "Only controls were measured. They show what the harness itself can do, and no client.",
            "To measure a client, name it in --clients.",
        )
    if not measured:
        return (
            f"No run counts, so nothing can be recommended. {name(clients[0])}: "
            f"{clients[0].no_figures_reason}.",
            "The list of all runs has every reason.",
        )
    labels = list(dict.fromkeys(name(row) for row in measured))
    if len({name(row) for row in clients}) == 1:
        return (
            f"Only {labels[0]} was measured: there is no other client to compare it with.",
            "To compare, name two clients or more in --clients.",
        )
    if len(labels) == 1:
        return (
            f"Only {labels[0]} has runs that count, so it cannot be compared with the others.",
            "The list of all runs says what went wrong with the others.",
        )
    stores = list(dict.fromkeys(row.identity.store_text for row in measured))
    if len(stores) > 1:
        return (
            f"{joined(labels)} ran on different stores ({joined(stores)}), so no client is compared with "
            "another: a difference could be one of the store.",
            "To compare clients, measure them on one store, e.g. ioredis@valkey beside iovalkey.",
        )
    return (
        f"{joined(labels)} are not compared: no two of them share load, what decides, algorithm and script.",
        "To compare clients, measure them under one load, with the same limiter.",
    )


def command_again(command: str, runs: int) -> str:
    """The campaign's command with so many runs of each configuration."""
    value = r"(?:'[^']*'|\"[^\"]*\"|\S+)"
    kept = re.sub(rf"\s--(?:runs|max-runs|budget)(?:=|\s+){value}", "", f" {command}").strip()
    return f"{kept} --runs {runs}"


def _longer(campaign: Campaign) -> str:
    longest = max((run.identity.duration_s or 0 for run in campaign.runs), default=0)
    return "fixed30" if longest < 30 else "fixed120"


def _steadier(campaign: Campaign) -> str:
    cpus = campaign.manifest["machine"]["cpus"] if campaign.manifest else CPUS_FOR_ALL
    return (
        f"close other programs, {_OWN_CPUS if cpus >= CPUS_FOR_ALL else _MORE_CPUS}, and measure longer "
        f"windows (--duration-mode {_longer(campaign)})"
    )


def _decide(campaign: Campaign, findings: Sequence[_Finding]) -> tuple[str, str]:
    open_pairs = [
        pair.comparison
        for finding in findings
        for pair in finding.ranking.ranked_by
        if pair.comparison.status == "not decided" and not pair.comparison.blocked
    ]
    if not open_pairs:
        blocked = any(pair.comparison.blocked for each in findings for pair in undecided(each.ranking))
        return (f"To decide: {_steadier(campaign)}." if blocked else "", "")
    few = any(found.too_few_runs for found in open_pairs)
    needed = [found.runs_needed for found in open_pairs if found.runs_needed is not None]
    affordable = [runs for runs in needed if runs <= MAX_ADVISED_RUNS]
    if not needed and not few and all(found.worst_ranks for found in open_pairs):
        return (
            "How many runs would decide the rest is not known, as some failed their load, or have a figure "
            "without an upper bound.",
            "",
        )
    if not affordable and not few:
        most = (
            f"about {max(needed)} runs of each like these" if needed else f"more than {MAX_RUNS} runs of each"
        )
        return (f"To decide the rest would take {most}. What helps more: {_steadier(campaign)}.", "")
    runs = max([MIN_ADVISED_RUNS, *affordable])
    command = (campaign.manifest or {}).get("command", "")
    shown = any(pair.comparison.shown for each in findings for pair in each.ranking.ranked_by)
    what = "To decide the rest" if shown else "To decide"
    if not command:
        return (f"{what}, measure about {runs} runs of each (--runs {runs}).", "")
    rows = len({run.identity.key for run in campaign.runs})
    return (
        f"{what}, make about {runs} runs of each ({plural(runs * rows, 'run')}):",
        command_again(command, runs),
    )


def recommend(analysis: Analysis) -> Recommendation:
    campaign, runtimes = analysis.campaign, analysis.runtimes
    findings = _findings(runtimes)
    caveats = caveats_of(analysis)
    if analysis.max_rates:
        first, *others = (Line(max_rate_sentence(each), " ".join(each.ids)) for each in analysis.max_rates)
        return Recommendation(first.text, tuple(others), "", "", caveats)
    if analysis.only_memory:
        return Recommendation(memory_text(analysis.memory), (), "", "", caveats)
    if not findings:
        lead, advice = _without_findings(runtimes)
        return Recommendation(lead, (), advice, "", caveats)
    decide, command = _decide(campaign, findings)
    if len(findings) == 1:
        return Recommendation(_leads(findings), (), decide, command, caveats)
    lines = tuple(Line(f"{finding.scope}: {finding.text}", finding.ids) for finding in findings)
    return Recommendation(_leads(findings), lines, decide, command, caveats)


def _lead(findings: Sequence[_Finding]) -> str:
    """What the findings of one layer show: the only one in full, several counted."""
    if len(findings) > 1:
        return f"On this machine {_counted(findings)}."
    text = findings[0].text
    if findings[0].kind == TOO_FEW:
        return f"Nothing is decided: {text}"
    ours = text.startswith(("Not ", "The ", "Nothing "))
    return f"On this machine {text[:1].lower() if ours else text[:1]}{text[1:]}"


def _leads(findings: Sequence[_Finding]) -> str:
    """One after the other for each layer: a decision is no request, so they are not counted together."""
    layers: dict[str, list[_Finding]] = {}
    for finding in findings:
        layers.setdefault(layer_of(finding.ranking).name, []).append(finding)
    if list(layers) == [layer_text("server").name]:
        return _lead(findings)
    return " ".join(f"{name.capitalize()}: {_uncapitalised(_lead(own))}" for name, own in layers.items())


def _uncapitalised(text: str) -> str:
    return f"{text[:1].lower()}{text[1:]}"
