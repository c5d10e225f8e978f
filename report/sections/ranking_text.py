"""Puts rankings into words: what the comparisons show, and why the others are open."""

import math
from collections.abc import Iterable, Iterator, Sequence

from report.analysis.figures import consumer_cpu, throughput
from report.analysis.limits import NOT_THE_TARGETS_OWN
from report.analysis.ranked_pairs import Pair
from report.analysis.rankings import Ranking
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
from report.base.format import joined, plural, rate
from report.sections.script_text import scripts_differ, what_varies
from report.statistics.conclusions import Status
from report.statistics.power import fewest_for_a_claim, fewest_to_decide
from report.statistics.systematic_error import NONE_APPLIES

#: A conclusion mentions suspect runs from this share on.
_MANY_SUSPECT = 1 / 3

#: The statuses of differences, in the order in which sentences name them.
_STATUSES_TO_NAME: tuple[Status, ...] = (
    "worse",
    "better",
    "worse, size open",
    "better, size open",
    "slightly worse",
    "slightly better",
)

#: A clause that begins with one of these gets a capital letter. A clause that begins with the name
#: of a target does not.
_OUR_BEGINNINGS = ("systematic ", "the ", "no ", "not ", "they ", "on ", "in the ", "of ")


def sentence(ranking: Ranking) -> str:
    """Says what is shown about the rows of a ranking, why other comparisons are open, and what
    would decide them."""
    first = ranking.summaries[0]
    if first.selected is None:
        return "No run counts, so there is nothing to compare."
    if ranking.properties.store is None:
        return "Not compared: the store is not known."
    if not ranking.properties.rankable:
        reason = "several were recorded" if ranking.properties.scripts else "it was not recorded"
        return f"Not compared: one script was asked for all rows, but {reason}."
    if not ranking.compared_rows:
        unit = layer_of(ranking).rate_unit
        median = f"{first.figure_of(throughput).text(rate)} {unit}"
        measured_text = median if first.has_figures else first.spoiled_text
        return f"{name(first)}, {measured_text}: no other row can be compared with it."
    return shown_text(ranking, _undecided_texts(ranking), brief=False)


def shown_text(ranking: Ranking, undecided: Iterable[str], brief: bool) -> str:
    """Says what the comparisons show. The caller words what is not decided.

    `brief` leaves out clauses that do not change the answer."""
    clauses = [
        winner_text(ranking),
        *differences(ranking),
        _equal_text(ranking),
        *undecided,
        _few_runs_text(ranking),
        _few_samples_text(ranking),
        _cpu_differences(ranking),
        _level_changes(ranking, brief),
        settled_text(ranking),
        limit_text(ranking),
        _failed_loads(ranking),
    ]
    if not brief:
        clauses.append(checked_text(ranking))
        clauses.append(systematic_text(ranking))
        clauses.append(_pairing_text(ranking))
    if not brief or (ranking.resolution and ranking.resolution.told_apart):
        clauses.append(_resolution_text(ranking))
    if not brief and scripts_differ(ranking):
        varying = what_varies(ranking)
        clauses.append(
            f"they ran different scripts: a difference is one of {varying} and script together"
        )
    return " ".join(f"{_capitalised(text)}." for text in clauses if text)


def _capitalised(text: str) -> str:
    """The clause as the beginning of a sentence. The name of a target stays as it is written."""
    return f"{text[0].upper()}{text[1:]}" if text.startswith(_OUR_BEGINNINGS) else text


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
    win_text = "has the lowest p99" if ranking.open_loop else "is the fastest"
    return f"{name(ranking.winner)} {win_text}{although_suspect(ranking.compared_rows)}"


def although_suspect(rows: Iterable[Summary]) -> str:
    """`, although 21 of 35 runs are suspect`, as the end of a conclusion from these rows.

    It is empty where fewer than a third are suspect."""
    by_id = {row.id: row for row in rows}
    counted = sum(row.counted_runs for row in by_id.values())
    suspect = sum(row.suspect_runs for row in by_id.values())
    if not suspect or suspect < _MANY_SUSPECT * counted:
        return ""
    verb = "is" if suspect == 1 else "are"
    return f", although {suspect} of {plural(counted, 'run')} {verb} suspect"


def _level_changes(ranking: Ranking, brief: bool) -> str:
    """Names the rows whose ratio to the base changes inside windows, with its range (rule M26).

    `brief` leaves the ranges of several rows to the tables below."""
    changes = [(pair.new, pair.level_change) for pair in _with_base(ranking) if pair.level_change]
    if brief and len(changes) > 1:
        names = joined([name(row) for row, _ in changes])
        return f"in the ratios of {names} the level changed inside windows"
    return joined([f"in the ratio of {name(row)} {change.text}" for row, change in changes])


def settled_text(ranking: Ranking) -> str:
    """Names the rows whose ratio differs between the start of turns and later, or between the
    halves of the window, with both ratios (rule M33)."""
    texts = []
    for figure, figure_text in ((throughput, "throughput"), (consumer_cpu, layer_of(ranking).cpu)):
        for row in ranking.compared_rows:
            settling = ranking.settling_of(row, figure)
            if settling and settling.unsettled:
                results = joined([result.text for result in settling.unsettled])
                texts.append(f"the {figure_text} of {name(row)} is {results}")
    return joined(texts)


def checked_text(ranking: Ranking) -> str:
    """Counts the ratios by whether they are settled: `of 4 ratios to the reference, 1 is settled
    and 3 are not checked (M33)`. Empty if none can be checked."""
    statuses = [
        settling.status
        for row in ranking.compared_rows
        for figure in (throughput, consumer_cpu)
        if (settling := ranking.settling_of(row, figure))
    ]
    if not statuses:
        return ""
    counts = {status: statuses.count(status) for status in dict.fromkeys(sorted(statuses))}
    counts_text = joined(
        [f"{count} {'is' if count == 1 else 'are'} {status}" for status, count in counts.items()]
    )
    return f"of {plural(len(statuses), 'ratio')} to the reference, {counts_text} (M33)"


def systematic_text(ranking: Ranking) -> str:
    """The systematic error that the comparisons used (rule M34), of the CPU apart where it differs.
    Empty if no component applies, as no row went by turns."""
    texts = {
        figure: joined(list(dict.fromkeys(pair.comparison.systematic.text for pair in pairs)))
        for figure, pairs in (
            (figure_of(ranking), ranking.ranked_by),
            (layer_of(ranking).cpu, ranking.cpu_pairs),
        )
        if any(pair.comparison.systematic != NONE_APPLIES for pair in pairs)
    }
    if not texts:
        return ""
    first, *others = texts.items()
    if all(text == first[1] for _, text in others):
        described = f"systematic error: {first[1]}"
    else:
        described = "systematic error: " + "; ".join(
            f"{figure} {text}" for figure, text in texts.items()
        )
    unmeasured = any(pair.comparison.systematic.unmeasured for pair in ranking.ranked_by)
    return f"{described}{', so no row is said not to differ' if unmeasured else ''} (M34)"


def limit_text(ranking: Ranking) -> str:
    """Says what throughput means where something other than the target was the limit."""
    limit = shared_limit(ranking)
    if limit is None:
        return ""
    if limit.of_all:
        return limited_throughput(limit.resources)
    ratios = "ratio" if len(limit.rows) == 1 else "ratios"
    rows = joined(list(map(name, limit.rows)))
    return f"in the {ratios} of {rows} {limited_throughput(limit.resources, 'there ')}"


def limited_throughput(resources: Sequence[str], place_words: str = "") -> str:
    limits = " or ".join(NOT_THE_TARGETS_OWN[resource] for resource in resources)
    return f"{limits} was the limit, so throughput {place_words}is the cost of all roles together"


def differences(ranking: Ranking) -> Iterator[str]:
    """Clauses about what was shown to differ: all pairs with the base of the ranking, then others
    whose worse row has no clause yet."""
    by_base: dict[str, list[Pair]] = {}
    for pair in _pairs_to_name(ranking):
        by_base.setdefault(pair.base.id, []).append(pair)

    for pairs_of_base in by_base.values():
        for status in _STATUSES_TO_NAME:
            pairs = [pair for pair in pairs_of_base if pair.comparison.status == status]
            if pairs:
                than = _than(ranking.open_loop, status, len(pairs) == 1)
                rows = joined(list(map(_with_ratio, pairs)))
                although = _although_suspect_of(pairs)
                size = _size_text(pairs) if pairs[0].comparison.size_is_open else ""
                yield f"{rows} {than} {name(pairs[0].base)}{size}{although}"


def _size_text(pairs: Sequence[Pair]) -> str:
    """Says that the difference was shown to have a direction, and not a size beyond the margin."""
    margin = f"{100 * pairs[0].comparison.margin:.3g} %"
    if len(pairs) == 1:
        return f", by a difference that may be below {margin}"
    return f", by differences that may be below {margin}"


def _pairs_to_name(ranking: Ranking) -> list[Pair]:
    shown_pairs = [(pair, pair.behind.id) for pair in ranking.ranked_by if pair.behind]
    pairs = [pair for pair, _ in shown_pairs if pair.base is ranking.base]
    worse_ids = {worse_id for pair, worse_id in shown_pairs if pair.base is ranking.base}
    for pair, worse_id in shown_pairs:
        if worse_id not in worse_ids:
            worse_ids.add(worse_id)
            pairs.append(pair)
    return pairs


def _although_suspect_of(pairs: Iterable[Pair]) -> str:
    return although_suspect(row for pair in pairs for row in (pair.base, pair.new))


def _than(open_loop: bool, status: Status, is_singular: bool) -> str:
    """The verb of a comparison: `is slower than`, `have a slightly lower p99 than`."""
    slightly = "slightly " if status.startswith("slightly") else ""
    better = "better" in status
    if open_loop:
        verb = "has" if is_singular else "have"
        return f"{verb} a {slightly}{'lower' if better else 'higher'} p99 than"
    verb = "is" if is_singular else "are"
    return f"{verb} {slightly}{'faster' if better else 'slower'} than"


def _equal_text(ranking: Ranking) -> str:
    """Names the rows that were shown to differ from the base by no more than the margin, or that
    failed their load as the base did."""
    pairs = [pair for pair in _with_base(ranking) if pair.comparison.status == "no difference"]
    if not pairs:
        return ""
    base = pairs[0].base
    figure = figure_of(ranking)
    if pairs[0].comparison.ratio is None:
        rows = joined([name(row) for row in (base, *(pair.new for pair in pairs))])
        return f"{rows} rank equal: their typical runs have no {figure}"

    rows = joined(list(map(_with_ratio, pairs)))
    margin = f"{100 * pairs[0].comparison.margin:.3g} %"
    although = _although_suspect_of(pairs)
    return f"the {figure} of {rows} is within ±{margin} of that of {name(base)}{although}"


def _with_base(ranking: Ranking) -> list[Pair]:
    return [pair for pair in ranking.ranked_by if pair.base is ranking.base]


def _undecided_texts(ranking: Ranking) -> list[str]:
    """One clause for each reason why rows are not decided against the base."""
    pairs_of: dict[str, list[Pair]] = {}
    for pair in _with_base(ranking):
        if pair.comparison.is_open:
            reasons = (pair.comparison.reason, outlook(pair.comparison))
            pairs_of.setdefault("; ".join(filter(None, reasons)), []).append(pair)

    texts = []
    for reason, pairs in pairs_of.items():
        rows = joined(list(map(_with_ratio, pairs)))
        subject = f"the {figure_of(ranking)} of {rows} against {name(pairs[0].base)}"
        texts.append(f"{subject} is not decided, because {reason}")
    return texts


def _few_runs_text(ranking: Ranking) -> str:
    by_turns = ranking.base.by_turns
    rows = [row for row in ranking.compared_rows if row.counted_runs < fewest_for_a_claim(by_turns)]
    if not rows:
        return ""
    min_runs = min(row.counted_runs for row in rows)
    max_runs = max(row.counted_runs for row in rows)
    runs = plural(max_runs, "run") if min_runs == max_runs else f"{min_runs} to {max_runs} runs"
    names = joined([name(row) for row in rows])
    have = f"has {runs}" if len(rows) == 1 else f"have {runs} each"
    count = "counts" if max_runs == 1 else "count"
    comparisons = max((pair.comparison.comparisons for pair in ranking.ranked_by), default=1)
    fewest = fewest_to_decide(by_turns, comparisons)
    return f"{names} {have} that {count}, and a difference takes at least {fewest} of each to show"


def _few_samples_text(ranking: Ranking) -> str:
    if not ranking.open_loop:
        return ""
    compared = {row.id for pair in ranking.ranked_by for row in (pair.base, pair.new)}
    without = [name(row) for row in ranking.compared_rows if row.id not in compared]
    if not without:
        return ""
    reason = "it is unsupported, by too few samples or late sends"
    return f"p99 of {joined(without)} cannot be compared: {reason}"


def _cpu_differences(ranking: Ranking) -> str:
    """`valkey-glide uses 1.80 times (1.75–1.86×) the server CPU of iovalkey per request`, where
    this was shown.

    In a closed loop it names only rows whose throughput decides nothing, because at saturation the
    CPU follows from the throughput."""
    base = ranking.base
    decided = {
        row.id
        for pair in ranking.ranked_by
        if pair.comparison.direction
        for row in (pair.base, pair.new)
    }
    rows: list[Summary] = []
    texts = []
    for pair in ranking.cpu_pairs:
        row = pair.new
        comparison = pair.comparison
        if pair.base is not base or not comparison.direction:
            continue
        if comparison.ratio is None or comparison.interval is None:
            continue
        if ranking.open_loop or row.id not in decided:
            uses = " uses" if not rows else ""
            interval = interval_text(comparison.interval)
            texts.append(f"{name(row)}{uses} {comparison.ratio:.2f} times ({interval})")
            rows.append(row)
    if not rows:
        return ""

    text = layer_of(ranking)
    per_request = at_its_load(f"per {text.request}", ranking.open_loop)
    although = although_suspect([base, *rows])
    return f"{joined(texts)} the {text.cpu} of {name(base)} {per_request}{although}"


def _failed_loads(ranking: Ranking) -> str:
    texts = [f"{name(row)} {row.spoiled_text}" for row in ranking.summaries if row.spoiled_runs]
    if not texts:
        return ""
    further_texts = [text.replace(" failed its load in ", " in ") for text in texts[1:]]
    return f"{joined([texts[0], *further_texts])}: these rank lowest"


def _pairing_text(ranking: Ranking) -> str:
    """Says which runs have no partner; empty where all have one, or where runs are not compared by
    pairs."""
    dropped = [
        f"{plural(pair.comparison.dropped, 'run')} of {name(pair.new)}"
        for pair in ranking.ranked_by
        if pair.comparison.dropped
    ]
    if not dropped:
        return ""
    return f"{joined(dropped)} had no partner in its round that counts, and are not compared"


def _resolution_text(ranking: Ranking) -> str:
    """Says how far the copy of a reference differed from its original."""
    resolution = ranking.resolution
    if resolution is None or not ranking.compared_rows:
        return ""
    copy = f"{name(resolution.copy)} is {name(resolution.reference)} once more"
    share = resolution.share
    if share is None or not math.isfinite(share):
        return f"{copy}, and its runs are too few, or failed their load too often, to tell the resolution"

    interval = interval_of(resolution.comparison)
    measured = f"{copy} and had {interval} of its {figure_of(ranking)}"
    if resolution.told_apart:
        return f"{measured}: the host told equal things apart, so no winner is named"
    ratio = resolution.comparison.ratio
    if not ratio:
        return measured
    return f"{measured}: equal rows came out {100 * (max(ratio, 1 / ratio) - 1):.1f} % apart"
