"""What the comparisons of a ranking show, in words."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from report.analysis.comparison_text import NO_RATIO, interval_of, interval_text, name, outlook_text
from report.analysis.layer_text import LayerText, layer_text
from report.analysis.rankings import Pair, Ranking
from report.analysis.summary import Summary
from report.base.format import joined, plural, rate
from report.sections.script_text import what_varies
from report.statistics.decision import Comparison
from report.statistics.power import fewest_for_a_claim


@dataclass(frozen=True, slots=True)
class _Phrases:
    figure: str
    winner: str
    worse: tuple[str, str]
    """Of one row and of several, before the row that they are compared with."""
    better: tuple[str, str]


_THROUGHPUT = _Phrases(
    "throughput",
    "is the fastest",
    ("is slower than", "are slower than"),
    ("is faster than", "are faster than"),
)
_P99 = _Phrases(
    "p99",
    "has the lowest p99",
    ("has a higher p99 than", "have a higher p99 than"),
    ("has a lower p99 than", "have a lower p99 than"),
)


def _phrases(ranking: Ranking) -> _Phrases:
    return _P99 if ranking.open_loop else _THROUGHPUT


def layer_of(ranking: Ranking) -> LayerText:
    return layer_text(ranking.standings[0].summary.identity.layer)


def _with_ratio(row: Summary, comparison: Comparison) -> str:
    between = interval_of(comparison)
    return f"{name(row)} ({between})" if between and between != NO_RATIO else name(row)


def _grouped(pairs: Iterable[Pair]) -> list[tuple[Summary, list[Pair]]]:
    found: dict[str, tuple[Summary, list[Pair]]] = {}
    for pair in pairs:
        found.setdefault(pair.base.id, (pair.base, []))[1].append(pair)
    return list(found.values())


def _pairs_to_name(pairs: Sequence[Pair], first: Summary) -> list[Pair]:
    """Pairs that show a difference: all with this row, and others whose worse row was not named yet."""
    named = [pair for pair in pairs if pair.better and pair.base is first]
    worse = {pair.worse.id for pair in named if pair.worse}
    for pair in pairs:
        if pair.worse and pair.base is not first and pair.worse.id not in worse:
            worse.add(pair.worse.id)
            named.append(pair)
    return named


def _differences(pairs: Sequence[Pair], phrases: _Phrases, first: Summary) -> list[str]:
    clauses = []
    for base, members in _grouped(_pairs_to_name(pairs, first)):
        for better, (one, several) in ((False, phrases.worse), (True, phrases.better)):
            rows = [pair for pair in members if (pair.better is pair.new) is better]
            if rows:
                texts = [_with_ratio(pair.new, pair.comparison) for pair in rows]
                clauses.append(f"{joined(texts)} {one if len(rows) == 1 else several} {name(base)}")
    return clauses


def winner_text(ranking: Ranking) -> str:
    winner = ranking.winner
    return f"{name(winner)} {_phrases(ranking).winner}" if winner else ""


def differences(ranking: Ranking) -> list[str]:
    """Clauses on what was shown to differ, the reference or first row as the base where it is one of the
    two."""
    if not ranking.compared:
        return []
    return _differences(ranking.ranked_by, _phrases(ranking), ranking.base)


def equal_text(ranking: Ranking) -> str:
    """Rows that were shown to differ from the base by no more than the floor, or failed their load as it
    did."""
    pairs = [pair for pair in _with_base(ranking) if pair.comparison.status == "no difference"]
    if not pairs:
        return ""
    figure = _phrases(ranking).figure
    if pairs[0].comparison.ratio is None:
        rows = joined([name(row) for row in (pairs[0].base, *(pair.new for pair in pairs))])
        return f"{rows} rank equal: their typical runs have no {figure}"
    texts = [_with_ratio(pair.new, pair.comparison) for pair in pairs]
    floor = f"{100 * pairs[0].comparison.floor:.3g} %"
    return f"the {figure} of {joined(texts)} is within ±{floor} of that of {name(pairs[0].base)}"


def _with_base(ranking: Ranking) -> list[Pair]:
    return [pair for pair in ranking.ranked_by if pair.base is ranking.base]


def undecided(ranking: Ranking) -> list[Pair]:
    return [pair for pair in ranking.ranked_by if pair.comparison.is_open]


def _undecided_texts(ranking: Ranking) -> list[str]:
    reasons: dict[str, list[Pair]] = {}
    for pair in _with_base(ranking):
        if pair.comparison.is_open:
            outlook = outlook_text(pair.comparison)
            reason = pair.comparison.reason
            reasons.setdefault(f"{reason}; {outlook}" if outlook else reason, []).append(pair)
    figure = _phrases(ranking).figure
    texts = []
    for reason, pairs in reasons.items():
        others = joined([_with_ratio(pair.new, pair.comparison) for pair in pairs])
        what = f"the {figure} of {others} against {name(pairs[0].base)}"
        texts.append(f"{what} is not decided, because {reason}")
    return texts


def few_runs_text(ranking: Ranking) -> str:
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


def few_samples_text(ranking: Ranking) -> str:
    compared = {row.id for pair in ranking.latency_pairs for row in (pair.base, pair.new)}
    without = [name(row) for row in ranking.compared if ranking.open_loop and row.id not in compared]
    return (
        f"p99 of {joined(without)} cannot be compared: it is unsupported, by too few samples or late sends"
        if without
        else ""
    )


def cpu_differences(ranking: Ranking) -> list[str]:
    """`valkey-glide uses 1.80 times (1.75–1.86×) the server CPU of iovalkey per request`, where shown.

    Of an open loop alone: at saturation, in a closed one, it says the same as the throughput."""
    if not ranking.compared or not ranking.open_loop:
        return []
    first = ranking.base
    texts = []
    for pair in ranking.cpu_pairs:
        found = pair.comparison
        if pair.base is first and found.shown and found.ratio is not None and found.interval is not None:
            texts.append(f"{name(pair.new)} {found.ratio:.2f} times ({interval_text(found.interval)})")
    if not texts:
        return []
    head, *rest = texts
    who, _, much = head.partition(" ")
    text = layer_of(ranking)
    return [f"{joined([f'{who} uses {much}', *rest])} the {text.cpu} of {name(first)} per {text.request}"]


def failed_loads(ranking: Ranking) -> list[str]:
    rows = [row for row in ranking.summaries if row.spoiled_runs]
    if not rows:
        return []
    first, *others = [f"{name(row)} {row.spoiled_text}" for row in rows]
    rest = [text.replace(" failed its load in ", " in ") for text in others]
    return [f"{joined([first, *rest])}: these rank lowest"]


def pairing_text(ranking: Ranking) -> str:
    """Which runs have no partner; empty where all have, and where runs are not compared by pairs."""
    alone = [
        f"{plural(pair.comparison.dropped, 'run')} of {name(pair.new)}"
        for pair in ranking.ranked_by
        if pair.comparison.dropped
    ]
    return f"{joined(alone)} had no partner in its round that counts, and are not compared" if alone else ""


def resolution_text(ranking: Ranking) -> str:
    found = ranking.resolution
    if found is None or not ranking.compared:
        return ""
    share = found.share
    between = interval_of(found.comparison)
    copy = f"{name(found.copy)} is {name(found.reference)} once more"
    if share is None or not math.isfinite(share):
        return f"{copy}, and its runs are too few, or failed their load too often, to tell the resolution"
    measured = f"{copy} and had {between} of its {_phrases(ranking).figure}"
    if found.told_apart:
        return f"{measured}: the host told equal things apart, so no winner is named"
    return f"{measured}: equal rows came out up to {100 * share:.1f} % apart"


def scripts_differ(ranking: Ranking) -> bool:
    ran = {script.name_or_sha1 for script in (each for row in ranking.summaries for each in row.scripts)}
    return not ranking.group.same_script and len(ran) > 1


def as_sentences(clauses: Iterable[str]) -> str:
    """Clauses as sentences, in one line. The name of a target starts a sentence as it is written."""
    return " ".join(f"{_capitalised(text)}." for text in clauses if text)


def _capitalised(text: str) -> str:
    ours = text.startswith(("the ", "no ", "not ", "they ", "on "))
    return f"{text[0].upper()}{text[1:]}" if ours else text


def sentence(ranking: Ranking) -> str:
    """What is shown of the rows of a ranking, why the rest is open, and what would decide it."""
    first = ranking.standings[0].summary
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
    return shown_text(ranking, [*_undecided_texts(ranking)], brief=False)


def shown_text(ranking: Ranking, undecided: Iterable[str], brief: bool) -> str:
    """What the comparisons show; what is not decided is worded by the caller. `brief`: without what does not
    change the answer."""
    resolution, told_apart = resolution_text(ranking), ranking.resolution and ranking.resolution.told_apart
    return as_sentences(
        [
            winner_text(ranking),
            *differences(ranking),
            equal_text(ranking),
            *undecided,
            few_runs_text(ranking),
            few_samples_text(ranking),
            *cpu_differences(ranking),
            *failed_loads(ranking),
            "" if brief else pairing_text(ranking),
            resolution if told_apart or not brief else "",
            f"they ran different scripts: a difference is one of {what_varies(ranking)} and script together"
            if scripts_differ(ranking) and not brief
            else "",
        ]
    )
