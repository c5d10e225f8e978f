"""The recommendation: what these figures show, what would decide the rest, and what they do not
show."""

import re
from collections.abc import Iterator, Sequence
from operator import attrgetter

from msgspec import Struct

from report.analysis.campaign_analysis import Analysis
from report.analysis.cells import Cell, RuntimeResults
from report.analysis.figures import percentile
from report.analysis.rankings import Pair, Ranking
from report.analysis.texts import layer_text, name
from report.base.format import joined, plural
from report.results.model import DIMENSIONS, Campaign
from report.sections.headings import scope_text, scopes
from report.sections.max_rate import max_rate_sentence
from report.sections.memory_per_key import memory_text
from report.sections.ranking_text import layer_of, shown_text
from report.sections.script_text import scripts_differ, store_name, what_varies
from report.sections.section import Line
from report.statistics.histograms import PERCENTILES
from report.statistics.power import MAX_RUNS

#: The advice asks for at least the first number of runs of each, and for no more than the second.
MIN_ADVISED_RUNS = 10
MAX_ADVISED_RUNS = 100

#: Above this share of the control without a limiter, a client's throughput shows the harness, not
#: the client.
NEAR_CEILING = 0.9

#: Fewer CPUs cannot give each of store, server and load generator some of its own, and leave one to
#: others.
CPUS_FOR_ALL = 4
_OWN_CPUS = (
    "give store, server and load generator CPUs of their own (--cpuset-store, --cpuset-server, "
    "--cpuset-loadtest)"
)
_MORE_CPUS = f"use a machine with at least {CPUS_FOR_ALL} CPUs"


class Recommendation(Struct, frozen=True):
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
        return tuple(filter(None, (self.lead, *(line.text for line in self.lines), decide)))


class _Finding(Struct, frozen=True):
    ranking: Ranking
    scope: Sequence[str]
    """How it differs from the others."""
    text: str

    @property
    def is_decided(self) -> bool:
        return any(pair.comparison.shown for pair in self.ranking.ranked_by)


def _open_pairs(ranking: Ranking) -> list[Pair]:
    return [pair for pair in ranking.ranked_by if pair.comparison.is_open]


def _open_text(ranking: Ranking) -> str:
    pairs = _open_pairs(ranking)
    if not pairs:
        return ""
    rows = list(dict.fromkeys(name(pair.new) for pair in pairs))
    against = (
        f" against {name(pairs[0].base)}" if len({pair.base.id for pair in pairs}) == 1 else ""
    )
    reasons = [f", because {pair.comparison.reason}" for pair in pairs if pair.comparison.blocked]
    return f"not decided: {joined(rows)}{against}{reasons[0] if reasons else ''}"


def _findings(runtimes: Sequence[RuntimeResults]) -> list[_Finding]:
    found = [(scope, ranking) for scope, ranking in scopes(runtimes) if ranking.compared]
    texts = [shown_text(ranking, [_open_text(ranking)], brief=True) for _, ranking in found]
    return [
        _Finding(ranking, scope, text or "Nothing is decided.")
        for (scope, ranking), text in zip(found, texts, strict=True)
    ]


def _without_findings(runtimes: Sequence[RuntimeResults]) -> tuple[str, str]:
    clients = [row for runtime in runtimes for cell in runtime.cells for row in cell.summaries]
    measured = [row for row in clients if row.selected]
    if not clients:
        lead = (
            "Only controls were measured. They show what the harness itself can do, and no client."
        )
        return lead, "To measure a client, name it in --clients."
    if not measured:
        first = f"{name(clients[0])}: {clients[0].no_figures_reason}."
        lead = f"No run counts, so nothing can be recommended. {first}"
        return lead, "The list of all runs has every reason."
    labels = list(dict.fromkeys(name(row) for row in measured))
    if len({name(row) for row in clients}) == 1:
        lead = f"Only {labels[0]} was measured: there is no other client to compare it with."
        return lead, "To compare, name two clients or more in --clients."
    if len(labels) == 1:
        lead = f"Only {labels[0]} has runs that count, so it cannot be compared with the others."
        return lead, "The list of all runs says what went wrong with the others."
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


def _steadier(campaign: Campaign) -> str:
    cpus = campaign.manifest["machine"]["cpus"] if campaign.manifest else CPUS_FOR_ALL
    longest = max((run.identity.duration_s or 0 for run in campaign.runs), default=0)
    return (
        f"close other programs, {_OWN_CPUS if cpus >= CPUS_FOR_ALL else _MORE_CPUS}, and measure longer "
        f"windows (--duration-mode {'fixed30' if longest < 30 else 'fixed120'})"
    )


def _decide(campaign: Campaign, findings: Sequence[_Finding]) -> tuple[str, str]:
    pairs = [pair for finding in findings for pair in finding.ranking.ranked_by]
    every = [pair.comparison for pair in pairs]
    found = [each for each in every if each.status == "not decided" and not each.blocked]
    if not found:
        blocked = any(
            pair.comparison.blocked for each in findings for pair in _open_pairs(each.ranking)
        )
        return (f"To decide: {_steadier(campaign)}." if blocked else "", "")
    few = any(each.too_few_runs for each in found)
    needed = [each.runs_needed for each in found if each.runs_needed is not None]
    affordable = [runs for runs in needed if runs <= MAX_ADVISED_RUNS]
    if not needed and not few and all(each.worst_ranks for each in found):
        why = "as some failed their load, or have a figure without an upper bound"
        return f"How many runs would decide the rest is not known, {why}.", ""
    if not affordable and not few:
        like = f"about {max(needed)} runs of each like these" if needed else ""
        most = like or f"more than {MAX_RUNS} runs of each"
        return (
            f"To decide the rest would take {most}. What helps more: {_steadier(campaign)}.",
            "",
        )
    runs = max([MIN_ADVISED_RUNS, *affordable])
    command = (campaign.manifest or {}).get("command", "")
    what = "To decide the rest" if any(each.shown for each in every) else "To decide"
    if not command:
        return (f"{what}, measure about {runs} runs of each (--runs {runs}).", "")
    rows = len({run.identity.key for run in campaign.runs})
    text = f"{what}, make about {runs} runs of each ({plural(runs * rows, 'run')}):"
    return text, command_again(command, runs)


def recommend(analysis: Analysis) -> Recommendation:
    findings = _findings(analysis.runtimes)
    caveats = caveats_of(analysis)
    if analysis.max_rates:
        first, *others = (
            Line(max_rate_sentence(each), " ".join(each.ids)) for each in analysis.max_rates
        )
        return Recommendation(first.text, tuple(others), "", "", caveats)
    if analysis.only_memory:
        return Recommendation(memory_text(analysis.memory), (), "", "", caveats)
    if not findings:
        lead, advice = _without_findings(analysis.runtimes)
        return Recommendation(lead, (), advice, "", caveats)
    lines = tuple(
        Line(
            f"{scope_text(each.scope)}: {each.text}",
            " ".join(row.id for row in each.ranking.summaries),
        )
        for each in findings
        if len(findings) > 1
    )
    return Recommendation(_leads(findings), lines, *_decide(analysis.campaign, findings), caveats)


def _lead(findings: Sequence[_Finding]) -> str:
    """What the findings of one layer show: the only one, or the first that is decided, and how many
    more."""
    first = next((each for each in findings if each.is_decided), findings[0])
    text = first.text
    others = len(findings) - 1
    if others and not first.is_decided:
        which = "either" if others == 1 else "any"
        return f"On this machine nothing is decided in {which} of {others + 1:,} comparisons."
    if first.ranking.few_runs and not first.is_decided:
        return f"Nothing is decided: {text}"
    if others:
        below = f"{plural(others, 'more comparison')} {'is' if others == 1 else 'are'} below"
        # What else sets it apart stands above its picture.
        where = ", ".join(first.scope[:2])
        shown = shown_text(first.ranking, [], brief=True)
        return f"On this machine, {where}: {shown} {below}."
    ours = text.startswith(("Not ", "The ", "Nothing "))
    return f"On this machine {text[:1].lower() if ours else text[:1]}{text[1:]}"


def _leads(findings: Sequence[_Finding]) -> str:
    """One after the other for each layer: a decision is no request, so they are not counted
    together."""
    layers: dict[str, list[_Finding]] = {}
    for finding in findings:
        layers.setdefault(layer_of(finding.ranking).name, []).append(finding)
    if list(layers) == [layer_text("server").name]:
        return _lead(findings)
    leads = [(layer.capitalize(), _lead(own)) for layer, own in layers.items()]
    return " ".join(f"{layer}: {lead[:1].lower()}{lead[1:]}" for layer, lead in leads)


def _of_all(analysis: Analysis, rankings: Sequence[Ranking]) -> Iterator[str]:
    manifest = analysis.campaign.manifest
    summaries = analysis.summaries
    if not manifest:
        yield "The manifest is missing, so machine, plan and requested versions are unknown."
    elif manifest["status"] == "aborted":
        yield "This campaign was aborted: runs that were not made are listed as missing."
    for text in manifest["conditions"] if manifest else ():
        yield f"{text[:1].upper()}{text[1:]}{'' if text.endswith('.') else '.'}"
    runtimes = list(dict.fromkeys(part.runtime for part in analysis.runtimes))
    if len(runtimes) > 1:
        yield f"Runs took place in several runtimes ({joined(runtimes)}): nothing is compared across them."
    layers = list(dict.fromkeys(part.text.layer for part in analysis.runtimes))
    if len(layers) > 1:
        yield f"The load entered at several layers ({joined(layers)}): nothing is compared across them."
    for dimension in DIMENSIONS:
        if len({row.identity.counts[dimension.key] for row in summaries} - {0}) > 1:
            yield f"The number of {dimension.other} differs: rows are compared with rows of the same number."
    if any(row.identity.servers > 1 for row in summaries):
        yield "Server CPU is that of all servers together."
    if any(ranking.compared and ranking.few_runs for ranking in rankings):
        yield "So few runs of each decide nothing."
    if number := sum(row.suspect_runs for row in summaries):
        counts = "is suspect: it counts" if number == 1 else "are suspect: they count"
        runs = plural(len(analysis.campaign.runs), "run")
        yield f"{number} of {runs} {counts}, and the list of all runs says why."
    if words := [layer_of(ranking) for ranking in rankings if not ranking.open_loop]:
        cpu, one = (
            " or ".join(dict.fromkeys(map(attrgetter(each), words))) for each in ("cpu", "request")
        )
        yield (
            f"p99 and {cpu} per {one} are those at full load (a closed loop), where they follow from the "
            "throughput: --rate measures them at your rate."
        )
    if any(row.figure_of(percentile(name)).bounds for row in summaries for name in PERCENTILES):
        yield (
            "Of a figure with § only the bounds are known: requests that failed or got no answer could move "
            "it."
        )


def caveats_of(analysis: Analysis) -> tuple[Line, ...]:
    """What the figures of this campaign do not show, one sentence each."""
    cells = analysis.cells
    rankings = [ranking for cell in cells for ranking in cell.rankings]
    found = [Line(text) for text in _of_all(analysis, rankings)]
    if differing := [cell for cell in cells if cell.stores_differ]:
        stores = dict.fromkeys(
            store_name(ranking) for cell in differing for ranking in cell.rankings
        )
        names = joined(list(stores))
        text = f"The stores differ ({names}): rows on one are not compared with rows on another."
        found.append(Line(text, " ".join(row.id for cell in differing for row in cell.summaries)))
    if scripts := [each for each in rankings if each.compared and scripts_differ(each)]:
        what = joined(list(dict.fromkeys(map(what_varies, scripts))))
        text = (
            f"The scripts differ: what is compared is {what} and script together. With +same-script all "
            "clients run the same one."
        )
        found.append(
            Line(text, " ".join(row.id for ranking in scripts for row in ranking.summaries))
        )
    foreign = {}
    for pair in (pair for ranking in rankings for pair in ranking.ranked_by):
        if pair.comparison.blocked and pair.comparison.reason.startswith("other programs"):
            text = f"Not judged: {pair.comparison.reason}."
            foreign[text] = Line(text, f"{pair.base.id} {pair.new.id}", whole=True)
    return (*found, *foreign.values(), *_near_ceiling(cells)[:1])


def _near_ceiling(cells: Sequence[Cell]) -> list[Line]:
    both = [
        (cell, pair)
        for cell in cells
        for pair in cell.ceilings
        if pair.base.identity.client == "none"
    ]
    ceilings = [(cell, pair.new, pair.comparison.ratio) for cell, pair in both]
    return [
        Line(
            f"{name(row)} is close to the {cell.text.consumer} without a limiter ({ratio:.2f}× of none): "
            "the harness may limit it, and clients may differ more than these figures show.",
            row.id,
        )
        for cell, row, ratio in ceilings
        if ratio is not None and ratio >= NEAR_CEILING
    ]
