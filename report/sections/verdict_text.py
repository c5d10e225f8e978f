"""What the comparisons of a ranking show, in words."""

import math
from collections.abc import Iterable

from report.analysis.rankings import Pair, Ranking
from report.analysis.texts import NO_RATIO, LayerText, interval_of, interval_text, layer_text, name, outlook
from report.base.format import joined, plural, rate
from report.sections.script_text import what_varies
from report.statistics.power import fewest_for_a_claim


def figure_of(ranking: Ranking) -> str:
    return "p99" if ranking.open_loop else "throughput"


def layer_of(ranking: Ranking) -> LayerText:
    return layer_text(ranking.summaries[0].identity.layer)


def _with_ratio(pair: Pair) -> str:
    between = interval_of(pair.comparison)
    return f"{name(pair.new)} ({between})" if between and between != NO_RATIO else name(pair.new)


def winner_text(ranking: Ranking) -> str:
    what = "has the lowest p99" if ranking.open_loop else "is the fastest"
    return f"{name(ranking.winner)} {what}" if ranking.winner else ""


def differences(ranking: Ranking) -> list[str]:
    """Clauses on what was shown to differ: all pairs with the reference or first row as the base, and others
    whose worse row was not named yet."""
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
    clauses = []
    for members in by_base.values():
        for better in (False, True):
            rows = [pair for pair in members if (pair.better is pair.new) is better]
            if rows:
                than = _than(ranking.open_loop, better, len(rows) == 1)
                clauses.append(f"{joined(list(map(_with_ratio, rows)))} {than} {name(rows[0].base)}")
    return clauses


def _than(open_loop: bool, better: bool, one: bool) -> str:
    """`is slower than`, `have a lower p99 than`."""
    if open_loop:
        return f"{'has' if one else 'have'} a {'lower' if better else 'higher'} p99 than"
    return f"{'is' if one else 'are'} {'faster' if better else 'slower'} than"


def _equal_text(ranking: Ranking) -> str:
    """Rows that were shown to differ from the base by no more than the floor, or failed their load as it
    did."""
    pairs = [pair for pair in _with_base(ranking) if pair.comparison.status == "no difference"]
    if not pairs:
        return ""
    figure = figure_of(ranking)
    if pairs[0].comparison.ratio is None:
        rows = joined([name(row) for row in (pairs[0].base, *(pair.new for pair in pairs))])
        return f"{rows} rank equal: their typical runs have no {figure}"
    texts, floor = list(map(_with_ratio, pairs)), f"{100 * pairs[0].comparison.floor:.3g} %"
    return f"the {figure} of {joined(texts)} is within ±{floor} of that of {name(pairs[0].base)}"


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
    many = plural(most, "valid run") if least == most else f"{least} to {most} valid runs"
    have = "has" if len(few) == 1 else "have"
    return (
        f"{joined([name(row) for row in few])} {have} {many}{' each' if len(few) > 1 else ''}, "
        f"and a difference takes at least {fewest} of each to show"
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
    """`valkey-glide uses 1.80 times (1.75–1.86×) the server CPU of iovalkey per request`, where shown.

    Of an open loop alone: at saturation, in a closed one, it says the same as the throughput."""
    first, text = ranking.base, layer_of(ranking)
    found = [(pair.new, pair.comparison) for pair in ranking.cpu_pairs if pair.base is first]
    texts = [
        (name(row), f"{each.ratio:.2f} times ({interval_text(each.interval)})")
        for row, each in found
        if each.shown and each.ratio is not None and each.interval is not None
    ]
    if not texts or not ranking.open_loop:
        return ""
    (who, much), *rest = texts
    all_of_them = joined([f"{who} uses {much}", *map(" ".join, rest)])
    return f"{all_of_them} the {text.cpu} of {name(first)} per {text.request}"


def _failed_loads(ranking: Ranking) -> str:
    texts = [f"{name(row)} {row.spoiled_text}" for row in ranking.summaries if row.spoiled_runs]
    rest = [text.replace(" failed its load in ", " in ") for text in texts[1:]]
    return f"{joined([*texts[:1], *rest])}: these rank lowest" if texts else ""


def _pairing_text(ranking: Ranking) -> str:
    """Which runs have no partner; empty where all have, and where runs are not compared by pairs."""
    alone = [
        f"{plural(pair.comparison.dropped, 'run')} of {name(pair.new)}"
        for pair in ranking.ranked_by
        if pair.comparison.dropped
    ]
    return f"{joined(alone)} had no partner in its round that counts, and are not compared" if alone else ""


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
    return f"{measured}: equal rows came out up to {100 * share:.1f} % apart"


def scripts_differ(ranking: Ranking) -> bool:
    ran = {script.name_or_sha1 for row in ranking.summaries for script in row.scripts}
    return not ranking.group.same_script and len(ran) > 1


def _capitalised(text: str) -> str:
    """As a sentence begins; the name of a target begins one as it is written."""
    ours = text.startswith(("the ", "no ", "not ", "they ", "on "))
    return f"{text[0].upper()}{text[1:]}" if ours else text


def sentence(ranking: Ranking) -> str:
    """What is shown of the rows of a ranking, why the rest is open, and what would decide it."""
    first = ranking.summaries[0]
    if first.median is None:
        return "No run counts, so there is nothing to compare."
    if ranking.store is None:
        return "Not compared: the store is not known."
    if not ranking.group.rankable:
        why = "several were recorded" if ranking.group.scripts else "it was not recorded"
        return f"Not compared: one script was asked for all rows, but {why}."
    if not ranking.compared:
        figures = first.figures
        unit = layer_of(ranking).rate_unit
        what = f"{rate(figures.requests_per_second)} {unit}" if figures else first.spoiled_text
        return f"{name(first)}, {what}: no other row can be compared with it."
    return shown_text(ranking, _undecided_texts(ranking), brief=False)


def shown_text(ranking: Ranking, undecided: Iterable[str], brief: bool) -> str:
    """What the comparisons show; what is not decided is worded by the caller. `brief`: without what does not
    change the answer."""
    clauses = [
        winner_text(ranking),
        *differences(ranking),
        _equal_text(ranking),
        *undecided,
        _few_runs_text(ranking),
        _few_samples_text(ranking),
        _cpu_differences(ranking),
        _failed_loads(ranking),
    ]
    if not brief:
        clauses.append(_pairing_text(ranking))
    if not brief or (ranking.resolution and ranking.resolution.told_apart):
        clauses.append(_resolution_text(ranking))
    if not brief and scripts_differ(ranking):
        varying = what_varies(ranking)
        clauses.append(f"they ran different scripts: a difference is one of {varying} and script together")
    return " ".join(f"{_capitalised(text)}." for text in clauses if text)
