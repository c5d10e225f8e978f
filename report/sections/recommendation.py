"""The recommendation: what the figures show, what would decide the open comparisons, and what the
figures do not show."""

import re
from collections.abc import Iterator, Sequence
from operator import attrgetter

from msgspec import Struct, structs

from report.analysis.campaign_analysis import Analysis
from report.analysis.cells import Cell, RuntimeResults
from report.analysis.figures import percentile
from report.analysis.limits import HOST_CPU
from report.analysis.ranked_pairs import Pair
from report.analysis.rankings import Ranking
from report.analysis.shared_limits import shared_limit
from report.analysis.texts import layer_text, name
from report.base.format import joined, plural
from report.results.catalog import DIMENSIONS
from report.results.model import Campaign
from report.sections.correlation_text import correlation_caveat
from report.sections.disturbances import ForeignLoad, foreign_loads, headline_sentences
from report.sections.headings import scope_text, scopes
from report.sections.load_curve_text import titled_sentences
from report.sections.max_rate import max_rate_sentence
from report.sections.memory_per_key import memory_text
from report.sections.ranking_text import layer_of, shown_text
from report.sections.script_text import scripts_differ, store_name, what_varies
from report.sections.section import Line
from report.statistics.histograms import PERCENTILES
from report.statistics.power import MAX_RUNS, fewest_to_decide

#: The advice asks for at most so many runs of each.
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
    """One line for each comparison, if there are several."""
    decide: str
    """What would decide the open comparisons; empty where there is none."""
    command: str
    """The command at the end of the sentence `decide`; empty without one."""
    caveats: tuple[Line, ...]
    """What the figures do not show."""

    @property
    def sentences(self) -> tuple[str, ...]:
        """Everything but the caveats, for terminals and programs."""
        decide = f"{self.decide} {self.command}".strip()
        return tuple(filter(None, (self.lead, *(line.text for line in self.lines), decide)))


class _Finding(Struct, frozen=True):
    ranking: Ranking
    scope: Sequence[str]
    """What sets the ranking apart from the others."""
    text: str

    @property
    def is_decided(self) -> bool:
        return any(pair.comparison.direction for pair in self.ranking.ranked_by)


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
    scoped_rankings = [
        (scope, ranking) for scope, ranking in scopes(runtimes) if ranking.compared_rows
    ]
    texts = [
        shown_text(ranking, [_open_text(ranking)], brief=True) for _, ranking in scoped_rankings
    ]
    return [
        _Finding(ranking, scope, text or "Nothing is decided.")
        for (scope, ranking), text in zip(scoped_rankings, texts, strict=True)
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
    """The command of the campaign with this number of runs of each configuration."""
    value = r"(?:'[^']*'|\"[^\"]*\"|\S+)"
    kept = re.sub(rf"\s--(?:runs|max-runs|budget)(?:=|\s+){value}", "", f" {command}").strip()
    return f"{kept} --runs {runs}"


def _cpus_of(campaign: Campaign) -> int:
    return campaign.manifest["machine"]["cpus"] if campaign.manifest else CPUS_FOR_ALL


def _more_room(campaign: Campaign) -> str:
    """What gives the roles more CPU time."""
    return _OWN_CPUS if _cpus_of(campaign) >= CPUS_FOR_ALL else _MORE_CPUS


def _steadier(campaign: Campaign) -> str:
    longest = max((run.identity.duration_s or 0 for run in campaign.runs), default=0)
    return (
        f"close other programs, {_more_room(campaign)}, and measure longer "
        f"windows (--duration-mode {'fixed30' if longest < 30 else 'fixed120'})"
    )


def _decide(campaign: Campaign, findings: Sequence[_Finding]) -> tuple[str, str]:
    """What would decide the open comparisons, and the command that does it.

    A disturbed campaign has one advice, to end what disturbed it. The others have the number of
    runs that stands beside the rows."""
    pairs = [pair for finding in findings for pair in finding.ranking.ranked_by]
    open_pairs = [
        pair
        for pair in pairs
        if pair.comparison.status == "not decided" and not pair.comparison.blocked
    ]
    if not open_pairs:
        blocked = any(
            pair.comparison.blocked for finding in findings for pair in _open_pairs(finding.ranking)
        )
        return (f"To decide: {_steadier(campaign)}." if blocked else "", "")

    is_rest = any(pair.comparison.direction for pair in pairs)
    beginning = "To decide the rest" if is_rest else "To decide"
    disturbed = [load for load in foreign_loads(campaign) if load.is_common]
    if disturbed:
        return _without_other_programs(campaign, open_pairs, beginning, disturbed[0])

    needed = [(pair, pair.comparison.runs_to_decide) for pair in open_pairs]
    known = [(pair, runs) for pair, runs in needed if runs is not None]
    affordable = [(pair, runs) for pair, runs in known if runs <= MAX_ADVISED_RUNS]
    if not known and all(pair.comparison.worst_ranks for pair in open_pairs):
        reason = "as some failed their load, or have a figure without an upper bound"
        return f"How many runs would decide the rest is not known, {reason}.", ""
    most_runs = max((runs for _, runs in affordable or known), default=None)
    if not affordable or most_runs is None:
        estimated_runs = f"about {most_runs} runs of each like these" if most_runs else ""
        cost = estimated_runs or f"more than {MAX_RUNS} runs of each"
        return (
            f"To decide the rest would take {cost}. What helps more: {_steadier(campaign)}.",
            "",
        )
    if len(affordable) < len(open_pairs):
        rows = dict.fromkeys(name(pair.new) for pair, _ in affordable)
        beginning = f"To decide {joined(list(rows))}"
    return _more_runs(campaign, f"{_cpu_advice(campaign, findings)}{beginning}", most_runs)


def _more_runs(campaign: Campaign, beginning: str, runs: int) -> tuple[str, str]:
    """The advice to make so many runs of each, with the command where it is known."""
    command = (campaign.manifest or {}).get("command", "")
    if not command:
        return (f"{beginning}, measure about {runs} runs of each (--runs {runs}).", "")
    rows = len({run.identity.key for run in campaign.runs})
    text = f"{beginning}, make about {runs} runs of each ({plural(runs * rows, 'run')}):"
    return text, command_again(command, runs)


def _cpu_advice(campaign: Campaign, findings: Sequence[_Finding]) -> str:
    """The advice of a campaign that used up the host's CPU, as the sentence before the number
    of runs; empty for others."""
    limits = [limit for finding in findings if (limit := shared_limit(finding.ranking))]
    if not any(HOST_CPU in limit.resources for limit in limits):
        return ""
    return f"The host's CPU was the limit, so first {_more_room(campaign)}. "


def _without_other_programs(
    campaign: Campaign, open_pairs: Sequence[Pair], beginning: str, load: ForeignLoad
) -> tuple[str, str]:
    """The advice to stop other programs, with the command that measures as much as before, and
    enough to decide."""
    planned = max((run.run for run in campaign.runs), default=0)
    fewest = max(
        fewest_to_decide(pair.base.by_turns, pair.comparison.comparisons) for pair in open_pairs
    )
    text = (
        "The numbers of runs beside rows hold for a host that stays as busy. "
        f"{beginning}, stop the other programs, which disturbed {load.share_text}, and measure again:"
    )
    command = (campaign.manifest or {}).get("command", "")
    return text, command_again(command, max(planned, fewest)) if command else ""


def recommend(analysis: Analysis) -> Recommendation:
    """The recommendation, whose lead names what disturbed the campaign as a whole."""
    recommended = _recommend(analysis)
    if analysis.only_memory or analysis.max_rates:
        return recommended
    lead = " ".join([recommended.lead, *headline_sentences(analysis.campaign)])
    return structs.replace(recommended, lead=lead)


def _recommend(analysis: Analysis) -> Recommendation:
    findings = _findings(analysis.runtimes)
    caveats = caveats_of(analysis)
    if analysis.max_rates:
        first, *further_lines = (
            Line(max_rate_sentence(result), " ".join(result.ids)) for result in analysis.max_rates
        )
        return Recommendation(first.text, tuple(further_lines), "", "", caveats)
    if analysis.only_memory:
        return Recommendation(memory_text(analysis.memory), (), "", "", caveats)
    if analysis.load_curves:
        first, *further_lines = (
            Line(sentence, " ".join(row_id for target in curve.targets for row_id in target.ids))
            for curve in analysis.load_curves
            for sentence in titled_sentences(curve)
        )
        return Recommendation(first.text, tuple(further_lines), "", "", caveats)
    if not findings:
        lead, advice = _without_findings(analysis.runtimes)
        return Recommendation(lead, (), advice, "", caveats)
    lines = tuple(
        Line(
            f"{scope_text(finding.scope)}: {finding.text}",
            " ".join(row.id for row in finding.ranking.summaries),
        )
        for finding in findings
        if len(findings) > 1
    )
    return Recommendation(_leads(findings), lines, *_decide(analysis.campaign, findings), caveats)


def _lead(findings: Sequence[_Finding]) -> str:
    """What the only finding of a layer shows, or the first decided one and how many more there
    are."""
    first = next((finding for finding in findings if finding.is_decided), findings[0])
    text = first.text
    further = len(findings) - 1
    if further and not first.is_decided:
        either_or_any = "either" if further == 1 else "any"
        return (
            f"On this machine nothing is decided in {either_or_any} of {further + 1:,} comparisons."
        )
    if first.ranking.few_runs and not first.is_decided:
        return f"Nothing is decided: {text}"
    if further:
        further_text = (
            f"{plural(further, 'more comparison')} {'is' if further == 1 else 'are'} below"
        )
        # The heading above its picture names the other parts of its scope.
        scope = ", ".join(first.scope[:2])
        conclusion = shown_text(first.ranking, [], brief=True)
        return f"On this machine, {scope}: {conclusion} {further_text}."
    is_own_wording = text.startswith(("Not ", "The ", "Nothing "))
    return f"On this machine {text[:1].lower() if is_own_wording else text[:1]}{text[1:]}"


def _leads(findings: Sequence[_Finding]) -> str:
    """The lead of each layer, one after the other. Decisions and requests are not counted
    together."""
    layers: dict[str, list[_Finding]] = {}
    for finding in findings:
        layers.setdefault(layer_of(finding.ranking).name, []).append(finding)
    if list(layers) == [layer_text("server").name]:
        return _lead(findings)
    leads = [
        (layer.capitalize(), _lead(findings_of_layer))
        for layer, findings_of_layer in layers.items()
    ]
    return " ".join(f"{layer}: {lead[:1].lower()}{lead[1:]}" for layer, lead in leads)


def _campaign_caveats(analysis: Analysis, rankings: Sequence[Ranking]) -> Iterator[str]:
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
    if any(ranking.compared_rows and ranking.few_runs for ranking in rankings):
        yield "So few runs of each decide nothing."
    if number := sum(row.suspect_runs for row in summaries):
        counts = "is suspect: it counts" if number == 1 else "are suspect: they count"
        runs = plural(len(analysis.campaign.runs), "run")
        yield f"{number} of {runs} {counts}, and the list of all runs says why."
    if layer_texts := [layer_of(ranking) for ranking in rankings if not ranking.open_loop]:
        cpu, request = (
            " or ".join(dict.fromkeys(map(attrgetter(member), layer_texts)))
            for member in ("cpu", "request")
        )
        yield (
            f"p99 and {cpu} per {request} are those at full load (a closed loop), where they follow from the "
            "throughput: --rate measures them at your rate."
        )
    if any(row.figure_of(percentile(name)).bounds for row in summaries for name in PERCENTILES):
        yield (
            "Of a figure with § only the bounds are known: requests that failed or got no answer could move "
            "it."
        )


def caveats_of(analysis: Analysis) -> tuple[Line, ...]:
    """Sentences about what the figures of this campaign do not show."""
    cells = analysis.cells
    rankings = [ranking for cell in cells for ranking in cell.rankings]
    lines = [Line(text) for text in _campaign_caveats(analysis, rankings)]
    if differing_cells := [cell for cell in cells if cell.stores_differ]:
        stores = dict.fromkeys(
            store_name(ranking) for cell in differing_cells for ranking in cell.rankings
        )
        names = joined(list(stores))
        text = f"The stores differ ({names}): rows on one are not compared with rows on another."
        lines.append(
            Line(text, " ".join(row.id for cell in differing_cells for row in cell.summaries))
        )
    if script_rankings := [
        ranking for ranking in rankings if ranking.compared_rows and scripts_differ(ranking)
    ]:
        subject = joined(list(dict.fromkeys(map(what_varies, script_rankings))))
        text = (
            f"The scripts differ: what is compared is {subject} and script together. With +same-script all "
            "clients run the same one."
        )
        lines.append(
            Line(text, " ".join(row.id for ranking in script_rankings for row in ranking.summaries))
        )
    correlated: dict[str, list[str]] = {}
    for ranking in rankings:
        if text := correlation_caveat(ranking):
            correlated.setdefault(text, []).extend(row.id for row in ranking.summaries)
    lines += [Line(text, " ".join(ids)) for text, ids in correlated.items()]
    foreign_lines = {}
    for pair in (pair for ranking in rankings for pair in ranking.ranked_by):
        if pair.comparison.blocked and pair.comparison.reason.startswith("other programs"):
            text = f"Not judged: {pair.comparison.reason}."
            foreign_lines[text] = Line(text, f"{pair.base.id} {pair.new.id}", whole=True)
    return (*lines, *foreign_lines.values(), *_near_ceiling(cells)[:1])


def _near_ceiling(cells: Sequence[Cell]) -> list[Line]:
    pairs_to_none = [
        (cell, pair)
        for cell in cells
        for pair in cell.ceilings
        if pair.base.identity.client == "none"
    ]
    ceilings = [(cell, pair.new, pair.comparison.ratio) for cell, pair in pairs_to_none]
    return [
        Line(
            f"{name(row)} is close to the {cell.text.consumer} without a limiter ({ratio:.2f}× of none): "
            "the harness may limit it, and clients may differ more than these figures show.",
            row.id,
        )
        for cell, row, ratio in ceilings
        if ratio is not None and ratio >= NEAR_CEILING
    ]
