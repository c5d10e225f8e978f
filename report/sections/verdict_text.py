"""Rows and rankings in words: what comparisons show, which scripts ran (rule M12), how figures
print."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from report.analysis.cells import Cell
from report.analysis.figures import Figure, FigureSummary, late_percentiles, throughput
from report.analysis.limits import NOT_THE_TARGETS_OWN
from report.analysis.rankings import Pair, Ranking
from report.analysis.shared_limits import shared_limit
from report.analysis.summary import Summary
from report.analysis.texts import (
    NO_RATIO,
    LayerText,
    at_its_load,
    interval_of,
    interval_text,
    layer_text,
    name,
    outlook,
)
from report.base.contract import CONSTANTS
from report.base.format import ABSENT, Show, count, joined, plural, rate
from report.results.model import (
    SEPARATIONS,
    Measured,
    Separation,
    script_text,
    separations_of,
    short_script_name,
)
from report.sections.section import Mark, TableCell, exact, sort_key
from report.statistics.power import fewest_for_a_claim

#: The class whose script `+same-script` has every client run.
COMMON_CLASS = "RateLimiterRedis"

#: The limiter of every client that no option gave another.
USUAL_LIMITER: str = CONSTANTS["usual_limiter"]

_EVAL_IS_LONGER = "EVAL sends the script’s text with every call."


def script_names(summary: Summary) -> str:
    """`EVALSHA a1de965f`; a dash where none is on record."""
    return ", ".join(script_text(script) for script in summary.scripts) or ABSENT


def calls_text(calls: Mapping[str, int]) -> str:
    """Script calls by command, the most first: `evalsha 123,456; eval 1`."""
    ordered = sorted(calls.items(), key=lambda entry: (-entry[1], entry[0]))
    return "; ".join(f"{command} {count(number)}" for command, number in ordered)


def _by_client(summaries: Iterable[Summary], kinds_only: bool) -> dict[str, list[str]]:
    """Clients with versions as asked, and limiters where they differ, by what they ran: its command
    alone, or the script's short name too."""
    rows = sorted(summaries, key=lambda row: row.identity.libraries)
    limiters = {row.identity.limiter for row in rows}
    found: dict[str, list[str]] = {}
    for summary in rows:
        identity = summary.identity
        usual = len(limiters) == 1 or identity.limiter in (None, USUAL_LIMITER)
        who = identity.libraries if usual else f"{identity.client}+{identity.limiter}"
        texts = [
            script.kind.upper() if kinds_only else script_text(script) for script in summary.scripts
        ]
        for text in texts or ["no script on record"]:
            clients = found.setdefault(text, [])
            if who not in clients:
                clients.append(who)
    return found


def _commands(ranking: Ranking) -> str:
    """`EVALSHA.`, or `EVALSHA (iovalkey) and EVAL (node-redis). …` with what that means, of rows
    that ran."""
    found = _by_client((row for row in ranking.summaries if row.scripts), kinds_only=True)
    if len(found) == 1:
        return f"{next(iter(found))}."
    commands = joined([f"{command} ({', '.join(clients)})" for command, clients in found.items()])
    return f"{commands}. {_EVAL_IS_LONGER if 'EVAL' in found else ''}".strip()


def _condition(ranking: Ranking, what: str) -> Separation | None:
    """The option of a family that separates the ranking; None for rows without one."""
    return next(
        (
            each
            for _, each in separations_of(ranking.group.conditions, "others")
            if each.what == what
        ),
        None,
    )


def mode_text(ranking: Ranking) -> str:
    """Which script the rows of a ranking should run, and under which conditions they stand unless
    these are the usual ones; empty where there is nothing to say."""
    group = ranking.group
    named = {each.what: each.words for each in SEPARATIONS}
    varying = joined([named.get(name, f"in several {name}s") for name in group.varies])
    versions = f"{group.client} {varying}" if group.client else ""
    conditions = (each.words for _, each in separations_of(group.conditions, "others"))
    return ", ".join(filter(None, (versions, _script_mode(ranking), *conditions)))


def _script_mode(ranking: Ranking) -> str:
    """Empty for an address whose store is not known, and where rows ran without a script on record:
    the store may have none, as memcached."""
    if ranking.group.store is None:
        return ""
    if any(limiter != USUAL_LIMITER for limiter in ranking.limiters):
        limiters = joined(list(ranking.limiters))
        return (
            f"the limiter {limiters}" if len(ranking.limiters) == 1 else f"the limiters {limiters}"
        )
    if ranking.group.same_script:
        return "one script for all"
    ran = any(run.measured for row in ranking.summaries for run in row.runs)
    return "" if ran and not ranking.scripts else "each client's own script"


def _protocols(ranking: Ranking) -> str:
    found: dict[str, list[str]] = {}
    for row in ranking.summaries:
        selected = row.selected_figures
        spoken = selected.client_settings.get("protocol") if selected else None
        if isinstance(spoken, str):
            found.setdefault(spoken, []).append(row.identity.libraries)
    if len(found) < 2:
        return ""
    texts = [
        f"{protocol} ({', '.join(dict.fromkeys(found[protocol]))})" for protocol in sorted(found)
    ]
    return f"The protocols differ: {joined(texts)}."


def disclosure(ranking: Ranking) -> str:
    """Which command each client used, whether the scripts are the same, and which protocols were
    spoken where they differ; empty where there is nothing to say."""
    return " ".join(filter(None, (_scripts_disclosure(ranking), _protocols(ranking))))


def _scripts_disclosure(ranking: Ranking) -> str:
    """Empty where no script is on record."""
    if not ranking.scripts:
        return "The script was not recorded." if ranking.group.same_script else ""
    clients = {row.identity.libraries for row in ranking.summaries if row.scripts}
    if ranking.group.same_script and ranking.group.rankable:
        script = next(script for row in ranking.summaries for script in row.scripts)
        return f"The script of {COMMON_CLASS}, {short_script_name(script)}, by {_commands(ranking)}"
    if ranking.one_script and len(clients) > 1:
        return f"All run the same script, {ranking.one_script[:8]}, by {_commands(ranking)}"
    used = _by_client(ranking.summaries, kinds_only=False)
    texts = [f"{', '.join(clients)}: {text}" for text, clients in used.items()]
    differ = (
        f" A difference is one of {what_varies(ranking)} and script together."
        if len(used) > 1
        else ""
    )
    return f"{'; '.join(texts)}.{differ}"


def what_varies(ranking: Ranking) -> str:
    """`client`, `limiter`, `limiter version` or several: what differs between the rows besides the
    script."""
    rows = [row.identity for row in ranking.summaries if row.scripts]
    several_limiters = len({row.limiter for row in rows}) > 1
    differ = {
        "client": len({(row.client, row.client_version) for row in rows}) > 1,
        "limiter": several_limiters,
        "limiter version": not several_limiters and len({row.limiter_version for row in rows}) > 1,
    }
    varying = [*(name for name, several in differ.items() if several), *ranking.group.varies]
    return ", ".join(varying) or "client"


def store_name(ranking: Ranking) -> str:
    identity = ranking.summaries[0].identity
    if "store version" in ranking.group.varies:
        identity = replace(identity, store_version=None)
    return identity.store_text if ranking.group.store else "an unknown one"


def difference(cell: Cell) -> str:
    """How the groups of a cell differ, so that nobody compares across them; empty for one group."""
    rankings = cell.rankings
    if len(rankings) < 2:
        return ""
    texts: list[str] = []

    def tell(what: str, values: Iterable[str], differ: bool | None = None) -> None:
        """`differ` is None where that is for the values to say."""
        found = list(dict.fromkeys(values))
        if len(found) > 1 if differ is None else differ:
            texts.append(f"{what}: {joined(found)}.")

    limiters = (
        limiter for ranking in rankings for limiter in ranking.limiters or ("an unknown one",)
    )
    deciders = (ranking.decider_text.removeprefix("decided by ") for ranking in rankings)
    tell("The stores differ", map(store_name, rankings), cell.stores_differ)
    decided = {(ranking.group.decided_by, ranking.group.algorithm) for ranking in rankings}
    tell("What decides differs", filter(None, deciders), len(decided) > 1)
    tell("The limiters differ", limiters, len({ranking.limiters for ranking in rankings}) > 1)
    for family in {each.what: each for each in SEPARATIONS if each.compares == "others"}.values():
        conditions = (_condition(ranking, family.what) for ranking in rankings)
        values = (each.value or each.words if each else family.usual for each in conditions)
        tell(f"The {family.what} differ", values)
    if cell.scripts_differ:
        modes = list(dict.fromkeys(filter(None, map(_script_mode, rankings))))
        each = f"{joined(modes)}." if len(modes) > 1 else "each group names its own."
        texts.append(f"The scripts differ: {each}")
    clients = dict.fromkeys(ranking.group.client for ranking in rankings if ranking.group.client)
    if len(clients) > 1:
        itself = "Each is compared with itself in other versions alone."
        texts.append(f"The clients differ: {joined(list(clients))}. {itself}")
    if not texts:
        texts.append("All ran the same script, as their own or because of +same-script.")
    return " ".join([*texts, "Rows are compared within a group only."])


def figure_of(ranking: Ranking) -> str:
    return "p99" if ranking.open_loop else "throughput"


def layer_of(ranking: Ranking) -> LayerText:
    return layer_text(ranking.summaries[0].identity.layer)


def _with_ratio(pair: Pair) -> str:
    between = interval_of(pair.comparison)
    return f"{name(pair.new)} ({between})" if between and between != NO_RATIO else name(pair.new)


def winner_text(ranking: Ranking) -> str:
    if ranking.winner is None:
        return ""
    what = "has the lowest p99" if ranking.open_loop else "is the fastest"
    return f"{name(ranking.winner)} {what}{although_suspect(ranking.compared)}"


#: From this share of suspect runs on a conclusion says so.
_MANY_SUSPECT = 1 / 3


def although_suspect(rows: Iterable[Summary]) -> str:
    """`, although 21 of 35 runs are suspect`: ends the sentence of a conclusion from these rows;
    empty where fewer than a third are."""
    found = {row.id: row for row in rows}.values()
    counted, suspect = (
        sum(row.counted_runs for row in found),
        sum(row.suspect_runs for row in found),
    )
    if not suspect or suspect < _MANY_SUSPECT * counted:
        return ""
    return f", although {suspect} of {plural(counted, 'run')} {'is' if suspect == 1 else 'are'} suspect"


def limit_text(ranking: Ranking) -> str:
    """What throughput is where the limit was not the target's own."""
    found = shared_limit(ranking)
    if found is None:
        return ""
    if found.of_all:
        return limited_throughput(found.resources)
    ratios, rows = (
        "ratio" if len(found.rows) == 1 else "ratios",
        joined(list(map(name, found.rows))),
    )
    return f"in the {ratios} of {rows} {limited_throughput(found.resources, 'there ')}"


def limited_throughput(resources: Sequence[str], where: str = "") -> str:
    limits = " or ".join(NOT_THE_TARGETS_OWN[resource] for resource in resources)
    return f"{limits} was the limit, so throughput {where}is the cost of all roles together"


def differences(ranking: Ranking) -> Iterator[str]:
    """Clauses on what was shown to differ: all pairs with the reference or first row as the base,
    and others whose worse row was not named yet."""
    shown = [(pair, worse.id) for pair in ranking.ranked_by if (worse := pair.worse)]
    named = [pair for pair, _ in shown if pair.base is ranking.base]
    told = {row_id for pair, row_id in shown if pair.base is ranking.base}
    for pair, row_id in shown:
        if row_id not in told:
            told.add(row_id)
            named.append(pair)
    by_base: dict[str, list[Pair]] = {}
    for pair in named:
        by_base.setdefault(pair.base.id, []).append(pair)
    for members in by_base.values():
        for better in (False, True):
            rows = [pair for pair in members if (pair.better is pair.new) is better]
            if rows:
                than = _than(ranking.open_loop, better, len(rows) == 1)
                text = f"{joined(list(map(_with_ratio, rows)))} {than} {name(rows[0].base)}"
                yield text + although_suspect(row for pair in rows for row in (pair.base, pair.new))


def _than(open_loop: bool, better: bool, one: bool) -> str:
    """`is slower than`, `have a lower p99 than`."""
    if open_loop:
        return f"{'has' if one else 'have'} a {'lower' if better else 'higher'} p99 than"
    return f"{'is' if one else 'are'} {'faster' if better else 'slower'} than"


def _equal_text(ranking: Ranking) -> str:
    """Rows that were shown to differ from the base by no more than the floor, or failed their load
    as it did."""
    pairs = [pair for pair in _with_base(ranking) if pair.comparison.status == "no difference"]
    if not pairs:
        return ""
    figure = figure_of(ranking)
    if pairs[0].comparison.ratio is None:
        rows = joined([name(row) for row in (pairs[0].base, *(pair.new for pair in pairs))])
        return f"{rows} rank equal: their typical runs have no {figure}"
    texts, floor = list(map(_with_ratio, pairs)), f"{100 * pairs[0].comparison.floor:.3g} %"
    although = although_suspect(row for pair in pairs for row in (pair.base, pair.new))
    return f"the {figure} of {joined(texts)} is within ±{floor} of that of {name(pairs[0].base)}{although}"


def _with_base(ranking: Ranking) -> list[Pair]:
    return [pair for pair in ranking.ranked_by if pair.base is ranking.base]


def _undecided_texts(ranking: Ranking) -> list[str]:
    reasons: dict[str, list[Pair]] = {}
    for pair in _with_base(ranking):
        if pair.comparison.is_open:
            why = "; ".join(filter(None, (pair.comparison.reason, outlook(pair.comparison))))
            reasons.setdefault(why, []).append(pair)
    return [
        f"the {figure_of(ranking)} of {joined(list(map(_with_ratio, pairs)))} against {name(pairs[0].base)} "
        f"is not decided, because {reason}"
        for reason, pairs in reasons.items()
    ]


def _few_runs_text(ranking: Ranking) -> str:
    fewest = fewest_for_a_claim(ranking.base.by_turns)
    few = [row for row in ranking.compared if row.counted_runs < fewest]
    if not few:
        return ""
    least, most = min(row.counted_runs for row in few), max(row.counted_runs for row in few)
    many = plural(most, "run") if least == most else f"{least} to {most} runs"
    have = "has" if len(few) == 1 else "have"
    return (
        f"{joined([name(row) for row in few])} {have} {many}{' each' if len(few) > 1 else ''} that "
        f"{'counts' if most == 1 else 'count'}, and a difference takes at least {fewest} of each to show"
    )


def _few_samples_text(ranking: Ranking) -> str:
    if not ranking.open_loop:
        return ""
    compared = {row.id for pair in ranking.ranked_by for row in (pair.base, pair.new)}
    without = [name(row) for row in ranking.compared if row.id not in compared]
    return (
        f"p99 of {joined(without)} cannot be compared: it is unsupported, by too few samples or late sends"
        if without
        else ""
    )


def _cpu_differences(ranking: Ranking) -> str:
    """`valkey-glide uses 1.80 times (1.75–1.86×) the server CPU of iovalkey per request`, where
    shown.

    Of a closed loop only for rows whose throughput decides nothing: at saturation the CPU follows
    it."""
    first, text = ranking.base, layer_of(ranking)
    decided = {
        row.id
        for pair in ranking.ranked_by
        if pair.comparison.shown
        for row in (pair.base, pair.new)
    }
    found = [(pair.new, pair.comparison) for pair in ranking.cpu_pairs if pair.base is first]
    texts = [
        (row, f"{each.ratio:.2f} times ({interval_text(each.interval)})")
        for row, each in found
        if each.shown and each.ratio is not None and each.interval is not None
        if ranking.open_loop or row.id not in decided
    ]
    if not texts:
        return ""
    (row, much), *rest = texts
    all_of_them = joined(
        [f"{name(row)} uses {much}", *(f"{name(other)} {more}" for other, more in rest)]
    )
    per_request = at_its_load(f"per {text.request}", ranking.open_loop)
    although = although_suspect((first, *(row for row, _ in texts)))
    return f"{all_of_them} the {text.cpu} of {name(first)} {per_request}{although}"


def _failed_loads(ranking: Ranking) -> str:
    texts = [f"{name(row)} {row.spoiled_text}" for row in ranking.summaries if row.spoiled_runs]
    rest = [text.replace(" failed its load in ", " in ") for text in texts[1:]]
    return f"{joined([*texts[:1], *rest])}: these rank lowest" if texts else ""


def _pairing_text(ranking: Ranking) -> str:
    """Which runs have no partner; empty where all have, and where runs are not compared by
    pairs."""
    found = [(pair.comparison.dropped, pair.new) for pair in ranking.ranked_by]
    alone = [f"{plural(dropped, 'run')} of {name(row)}" for dropped, row in found if dropped]
    return (
        f"{joined(alone)} had no partner in its round that counts, and are not compared"
        if alone
        else ""
    )


def _resolution_text(ranking: Ranking) -> str:
    found = ranking.resolution
    if found is None or not ranking.compared:
        return ""
    share = found.share
    between = interval_of(found.comparison)
    copy = f"{name(found.copy)} is {name(found.reference)} once more"
    if share is None or not math.isfinite(share):
        return f"{copy}, and its runs are too few, or failed their load too often, to tell the resolution"
    measured = f"{copy} and had {between} of its {figure_of(ranking)}"
    if found.told_apart:
        return f"{measured}: the host told equal things apart, so no winner is named"
    ratio = found.comparison.ratio
    apart = (
        ""
        if not ratio
        else f": equal rows came out {100 * (max(ratio, 1 / ratio) - 1):.1f} % apart"
    )
    return f"{measured}{apart}"


def scripts_differ(ranking: Ranking) -> bool:
    ran = {script.name_or_sha1 for row in ranking.summaries for script in row.scripts}
    return not ranking.group.same_script and len(ran) > 1


def _capitalised(text: str) -> str:
    """As a sentence begins; the name of a target begins one as it is written."""
    ours = text.startswith(("the ", "no ", "not ", "they ", "on ", "in the "))
    return f"{text[0].upper()}{text[1:]}" if ours else text


def sentence(ranking: Ranking) -> str:
    """What is shown of the rows of a ranking, why the rest is open, and what would decide it."""
    first = ranking.summaries[0]
    if first.selected is None:
        return "No run counts, so there is nothing to compare."
    if ranking.group.store is None:
        return "Not compared: the store is not known."
    if not ranking.group.rankable:
        why = "several were recorded" if ranking.group.scripts else "it was not recorded"
        return f"Not compared: one script was asked for all rows, but {why}."
    if not ranking.compared:
        unit = layer_of(ranking).rate_unit
        median = f"{first.figure_of(throughput).text(rate)} {unit}"
        what = median if first.has_figures else first.spoiled_text
        return f"{name(first)}, {what}: no other row can be compared with it."
    return shown_text(ranking, _undecided_texts(ranking), brief=False)


def shown_text(ranking: Ranking, undecided: Iterable[str], brief: bool) -> str:
    """What the comparisons show; what is not decided is worded by the caller. `brief`: without what
    does not change the answer."""
    clauses = [
        winner_text(ranking),
        *differences(ranking),
        _equal_text(ranking),
        *undecided,
        _few_runs_text(ranking),
        _few_samples_text(ranking),
        _cpu_differences(ranking),
        limit_text(ranking),
        _failed_loads(ranking),
    ]
    if not brief:
        clauses.append(_pairing_text(ranking))
    if not brief or (ranking.resolution and ranking.resolution.told_apart):
        clauses.append(_resolution_text(ranking))
    if not brief and scripts_differ(ranking):
        varying = what_varies(ranking)
        clauses.append(
            f"they ran different scripts: a difference is one of {varying} and script together"
        )
    return " ".join(f"{_capitalised(text)}." for text in clauses if text)


#: What the marks behind a figure mean.
FEW_SAMPLES = ("†", "too few samples behind it")
MERGED = ("∪", "from the merged histogram of all runs, because single runs have too few samples")
UNIDENTIFIED = ("§", "failed or unanswered requests could move it: only its bounds are known")
LATE = ("¶", "late sends of the load generator are more than a tenth of it")
SUSPECT = ("‖", "at least half of its runs are suspect")


def spread_figure(summary: Summary, figure: Figure, show: Show, unit: str = "") -> TableCell:
    """The figure with its range, or its bounds where it is not identified; marked where a reader
    must know more of it. With its unit it can be sorted by, and hovering shows more digits."""
    found = summary.figure_of(figure)
    value = found.value
    sort, hint = (sort_key(value), exact(value, unit)) if unit else (None, "")
    if not summary.has_figures:
        return TableCell(ABSENT, kind="number", sort=sort, hint=hint)
    marks = (*median_marks(found), *suspect_marks(summary))
    span = found.range_text(show)
    return TableCell(found.text(show), range=span, marks=marks, kind="number", sort=sort, hint=hint)


def limit_cell(summary: Summary) -> TableCell:
    return (
        TableCell(summary.limit.words, hint=summary.limit.text)
        if summary.limit
        else TableCell(ABSENT)
    )


def suspect_marks(summary: Summary) -> tuple[Mark, ...]:
    counted = [run for run in summary.runs if run.eligible or run.spoiled]
    suspect = sum(run.verdict == "suspect" for run in counted)
    return (SUSPECT,) if counted and 2 * suspect >= len(counted) else ()


def median_marks(found: FigureSummary) -> tuple[Mark, ...]:
    """What a reader must know of the figure of a row."""
    known = found.value is not None or found.bounds is not None
    return (
        *([UNIDENTIFIED] if found.bounds else []),
        *([FEW_SAMPLES] if found.few_samples and known else []),
        *([MERGED] if found.merged and known else []),
        *([LATE] if found.late else []),
    )


def run_marks(figures: Measured, figure: Figure) -> tuple[Mark, ...]:
    """What a reader must know of the figure of a single run."""
    value, known = figure(figures), figure.known(figures)
    few = known is not None and figure.percentile in figures.unsupported
    return (
        *([UNIDENTIFIED] if known is not None and value is None else []),
        *([FEW_SAMPLES] if few else []),
        *([LATE] if figure.percentile in late_percentiles(figures) else []),
    )


def marks_note(figures: Iterable[TableCell]) -> str:
    """What the marks that occur among them mean: `† too few samples behind it.`; empty without
    marks."""
    found = dict.fromkeys(mark for figure in figures for mark in figure.marks)
    return " ".join(f"{mark} {meaning}." for mark, meaning in found)
