"""The answers on top of the page: which limiter for whom. A name is given where a campaign showed it; where
none did, the answer says why, and which command would."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from report.base.format import ABSENT, joined, plural
from report.results.audit import BROKEN, HOLDS
from report.sections.recommendation import command_again
from report.sections.spread_text import SpreadFigure
from report.site.audits import AuditEntry
from report.site.entry import ONLY_ONE, Entry, Family, FaultedTarget, Values, labels_text

#: Requests per second of the second question.
RATE = 1000

#: How many runs of each a command of ours asks for, and how many of each fault.
RUNS, FAULT_RUNS = 10, 3

#: A p99 needs 10,000 samples (rule M18).
_WINDOW = "fixed30"

_START = "ratelimit-bench run"
_ALL = f"{_START} --clients all"
_CLUSTERS = "valkey-glide:cluster,iovalkey:cluster,ioredis@valkey:cluster,node-redis@valkey:cluster"
_LOADS = r"output|quiet|seed|concurrency|rate|rate-sweep|arrivals|fault|find-max-rate|slo"


@dataclass(frozen=True, slots=True)
class Link:
    text: str
    address: str


@dataclass(frozen=True, slots=True)
class AnswerRow:
    """`cells` go with the answer's columns; the last column is the link to where it is from."""

    cells: tuple[str, ...]
    shown: bool
    """What it says was shown, and is not only what was seen."""
    link: Link
    values: Values


@dataclass(frozen=True, slots=True)
class Line:
    """A sentence of the answer, with where it is from."""

    text: str
    link: Link | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    id: str
    question: str
    lines: tuple[Line, ...]
    """The answer; what is missing where there is none."""
    shown: bool
    """Some row answers it."""
    command: str
    """That would measure what is missing; empty where nothing is."""
    columns: tuple[str, ...]
    rows: tuple[AnswerRow, ...]


def answers(entries: Sequence[Entry], audits: Sequence[AuditEntry]) -> tuple[Answer, ...]:
    """One a question.

    Args:
        entries, audits: in order of time.
    """
    newest = tuple(reversed(entries))
    latest = tuple(reversed(audits))
    return (
        _cheapest(newest),
        _lowest_p99(newest),
        _most_exact(newest, latest),
        _failover(newest, latest),
    )


def _link(entry: Entry, anchor: str) -> Link:
    return Link(f"{entry.record.name}, {entry.day}", f"{entry.page}#{anchor}")


def _families(entries: Sequence[Entry], rate: float | None = None) -> list[tuple[Entry, Family]]:
    """Those of an open loop, newest first; only of one rate where one is given."""
    return [
        (entry, family)
        for entry in entries
        for family in entry.families
        if family.open_loop and rate in (None, family.rate_per_second)
    ]


def _reason(family: Family) -> str:
    return f"not shown: {family.why_none or 'the rows do not differ enough, or need more runs'}"


def _figure(found: SpreadFigure) -> str:
    """With its range; the tables have its marks."""
    return f"{found.text} ({found.range})" if found.range else found.text


def _newest_of_each(found: Sequence[tuple[Entry, Family]]) -> list[tuple[Entry, Family]]:
    """Of each question that several campaigns asked, on one machine, the newest."""
    first: dict[tuple[str, ...], tuple[Entry, Family]] = {}
    for entry, family in found:
        first.setdefault((entry.place, *family.scope), (entry, family))
    return list(first.values())


def _at_rate(entries: Sequence[Entry], rate: int) -> str:
    """A command that measures at a rate what a campaign measured."""
    known = [entry for entry in entries if entry.own_command and entry.families]
    # The questions are about requests of an API: the campaign that measured most targets there, the newest of
    # several.
    most = max(known, key=_server_targets, default=None)
    asked = most.own_command if most and _server_targets(most) else _ALL
    return f"{_without_load(command_again(asked, RUNS, _WINDOW))} --rate {rate}"


def _server_targets(entry: Entry) -> int:
    return len({row.label for row in entry.rows if row.values["layer"] == "server" and not row.control})


def _without_load(command: str) -> str:
    value = r"(?:'[^']*'|\"[^\"]*\"|[^\s-]\S*)"
    return re.sub(rf"\s--(?:{_LOADS})(?:(?:=|\s+){value})?(?=\s|$)", "", command)


def _of_conditions(entry: Entry, family: Family) -> tuple[str, str]:
    return family.where, f"{family.title}; {entry.place}"


def _missing(entries: Sequence[Entry], what: str) -> str:
    """Why no campaign answers a question that takes an open loop."""
    closed = [entry for entry in entries if any(not family.open_loop for family in entry.families)]
    if not closed:
        return f"Not measured: no campaign {what}."
    names = labels_text([entry.record.name for entry in closed], 3)
    return (
        f"Not measured: no campaign {what}. {plural(len(closed), 'campaign')} ({names}) measured at full "
        "load alone, where CPU per request and latency follow from the throughput: that answers nothing here."
    )


def _undecided(found: Sequence[tuple[Entry, Family]], what: str) -> Line:
    compared = [family for _, family in found if family.why_none != ONLY_ONE]
    if not compared:
        return Line("Nothing to compare: each campaign at this rate has one target on a store.")
    reasons = list(dict.fromkeys(_reason(family).removeprefix("not shown: ") for family in compared))
    return Line(
        f"Not shown: no target was shown to {what} than all others in {plural(len(compared), 'comparison')}. "
        f"{_sentence('; '.join(reasons))}"
    )


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}." if text else ""


def _next_command(found: Sequence[tuple[Entry, Family]]) -> str:
    """Of the newest campaign that knows what would decide."""
    return next((entry.command for entry, _ in found if entry.command), "")


def _cheapest(entries: Sequence[Entry]) -> Answer:
    """By the CPU of what calls the limiter, at a rate: at full load it follows from the throughput."""
    found = _families(entries)
    rows = [
        AnswerRow(
            (
                *_of_conditions(entry, family),
                family.cheapest or _reason(family),
                family.cheapest_cpu.plain if family.cheapest else ABSENT,
                family.cheapest_parts or ABSENT,
            ),
            bool(family.cheapest),
            _link(entry, "answer"),
            family.values,
        )
        for entry, family in found
    ]
    named = [(entry, family) for entry, family in _newest_of_each(found) if family.cheapest]
    lines = [
        Line(
            f"{family.cheapest} on {family.where}: {_figure(family.cheapest_cpu)} {family.cpu_unit} at "
            f"{family.rate_per_second:,g}/s of {family.traffic} traffic, shown to cost less than "
            f"{labels_text([each for each in family.labels if each != family.cheapest])}.",
            _link(entry, "answer"),
        )
        for entry, family in named
    ]
    command = ""
    if not found:
        lines = [Line(_missing(entries, "measured CPU per decision at a rate"))]
        command = _at_rate(entries, RATE)
    elif not named:
        lines = [_undecided(found, "cost less CPU")]
        command = _next_command(found) or _at_rate(entries, RATE)
    return Answer(
        "cpu",
        "Which costs least CPU per decision?",
        tuple(lines),
        bool(named),
        command,
        ("Where", "Load and machine", "Cheapest", "CPU, µs/request", "Of a decision", "From"),
        tuple(rows),
    )


def _lowest_p99(entries: Sequence[Entry]) -> Answer:
    found = _families(entries, RATE)
    rows = [
        AnswerRow(
            (
                *_of_conditions(entry, family),
                family.best.label if family.best.shown else _reason(family),
                family.best.figure.plain if family.best.shown else ABSENT,
                f"{family.best.next} {family.best.ratio}".strip() or ABSENT,
            ),
            family.best.shown,
            _link(entry, "answer"),
            family.values,
        )
        for entry, family in found
    ]
    named = [(entry, family) for entry, family in _newest_of_each(found) if family.best.shown]
    lines = [
        Line(
            f"{family.best.label} on {family.where}: p99 {_figure(family.best.figure)} "
            f"{family.latency_unit}; next {family.best.next} ({family.best.ratio}).",
            _link(entry, "answer"),
        )
        for entry, family in named
    ]
    command = ""
    if not found:
        others = sorted({family.rate_per_second or 0 for _, family in _families(entries)})
        text = _missing(entries, f"measured latency at {RATE}/s")
        if others:
            rates = joined([f"{each:,g}/s" for each in others])
            text = f"Not measured at {RATE}/s; other campaigns measured at {rates}."
        lines, command = [Line(text)], _at_rate(entries, RATE)
    elif not named:
        lines = [_undecided(found, "have a lower p99")]
        command = _next_command(found) or _at_rate(entries, RATE)
    return Answer(
        "p99",
        f"Which has the lowest p99 at {RATE} requests/s?",
        tuple(lines),
        bool(named),
        command,
        ("Where", "Load and machine", "Lowest p99", "p99", "Next", "From"),
        tuple(rows),
    )


def _most_exact(entries: Sequence[Entry], audits: Sequence[AuditEntry]) -> Answer:
    """Audits say who keeps all promises; traffic `boundary` says by how much one is missed."""
    rows, lines, seen = [], [], set()
    for audit in audits:
        link = Link(f"{audit.name}, {audit.day}", audit.page)
        fresh = [target for target in audit.targets if target.label not in seen]
        seen |= {target.label for target in fresh}
        kept = [target for target in fresh if not target.broken and not target.failed and target.held]
        broken = sorted((target for target in fresh if target.broken), key=lambda each: -len(each.broken))
        if kept:
            text = f"{labels_text([each.label for each in kept])}: every promise that was checked holds."
            lines.append(Line(text, link))
        if broken:
            worst = "; ".join(f"{each.label} ({each.broken_text})" for each in broken[:6])
            more = f"; and {len(broken) - 6} more" if len(broken) > 6 else ""
            lines.append(Line(f"A promise is broken by {worst}{more}.", link))
        rows += [
            AnswerRow(
                (
                    target.label,
                    target.algorithm,
                    f"breaks {target.broken_text}"
                    if target.broken
                    else f"{plural(target.failed, 'check')} could not be made"
                    if target.failed
                    else "every promise holds",
                    f"{target.held} of {audit.checks} checks hold"
                    + (f", {target.skipped} skipped" if target.skipped else ""),
                ),
                not target.broken and not target.failed and target.held > 0,
                link,
                target.values,
            )
            for target in audit.targets
        ]
    for entry in entries:
        link = _link(entry, "promises")
        wrong = [each for each in entry.promises if each.holds != HOLDS]
        if entry.promises:
            total = plural(len(entry.promises), "promise")
            by = labels_text(list(dict.fromkeys(each.label for each in wrong)))
            text = (
                f"Bursts and rates under load: {by} did not keep {len(wrong)} of {total}."
                if wrong
                else f"Bursts and rates under load: all {total} held."
            )
            lines.append(Line(text, link))
        rows += [
            AnswerRow(
                (
                    each.label,
                    each.algorithm,
                    f"{each.promise}: {each.holds}",
                    f"promised {each.promised}, seen {each.seen}",
                ),
                each.holds == HOLDS,
                link,
                each.values,
            )
            for each in entry.promises
        ]
    known = bool(rows)
    if not known:
        lines = [Line("Not checked: there is no audit, and no campaign with traffic boundary.")]
    return Answer(
        "exact",
        "Which admits exactly what it promises?",
        tuple(lines),
        known and any(row.shown for row in rows),
        "" if known else "ratelimit-bench audit --clients all",
        ("Target", "Algorithm", "What was found", "By what", "From"),
        tuple(rows),
    )


def _recovered(found: FaultedTarget) -> str:
    """With its recovery, where it is one of every run."""
    return f"{found.label} (after {found.figures[2][0]} s)" if found.survives else found.label


def _failover(entries: Sequence[Entry], audits: Sequence[AuditEntry]) -> Answer:
    """Runs with faults rank nothing: every target that recovered in all runs survives."""
    rows, lines = [], []
    seen: set[tuple[str, str, str]] = set()
    audited: set[str] = set()
    for entry in entries:
        link = _link(entry, "faults")
        own = [each for each in entry.faults if each.failover]
        fresh = [each for each in own if (each.label, each.words, entry.place) not in seen]
        seen |= {(each.label, each.words, entry.place) for each in own}
        for words in dict.fromkeys(each.words for each in fresh):
            of_fault = [each for each in fresh if each.words == words]
            for ending in dict.fromkeys(each.ending for each in of_fault):
                labels = labels_text([_recovered(each) for each in of_fault if each.ending == ending])
                lines.append(Line(f"When {words}: {labels} {ending}.", link))
        rows += [
            AnswerRow(
                (
                    each.label,
                    f"{each.words}; {entry.place}",
                    f"recovered in {each.recovered} of {plural(each.planned, 'run')}",
                    *(
                        (
                            f"{each.figures[0][0]} s injected / seen, {each.figures[1][0]} errors",
                            f"after {each.figures[2][0]} s",
                        )
                        if each.figures
                        else (each.reason, ABSENT)
                    ),
                ),
                each.survives,
                link,
                each.values,
            )
            for each in own
        ]
    for audit in audits:
        checked = [each for each in audit.targets if each.failover in (HOLDS, BROKEN)]
        link = Link(f"{audit.name}, {audit.day}", f"{audit.page}#failover")
        rows += [
            AnswerRow(
                (
                    each.label,
                    f"audit: a primary is lost; {audit.runtime}",
                    _FOUND[each.failover],
                    each.seen or ABSENT,
                    ABSENT,
                ),
                each.failover == HOLDS,
                link,
                each.values,
            )
            for each in checked
        ]
        new = [each for each in checked if each.label not in audited]
        audited |= {each.label for each in new}
        for status, text in _FOUND.items():
            found = [each.label for each in new if each.failover == status]
            if found:
                lines.append(Line(f"Audit, after a failover: {labels_text(found)} {text}.", link))
    if not rows:
        lines = [Line("Not measured: no campaign made a replica take over, and no audit checked it.")]
    return Answer(
        "failover",
        "Which survives a failover?",
        tuple(lines),
        any(row.shown for row in rows),
        "" if rows else f"{_START} --clients {_CLUSTERS} --rate 500 --fault primary-kill --runs {FAULT_RUNS}",
        ("Target", "What happened", "Survived", "Outage", "Recovery", "From"),
        tuple(rows),
    )


_FOUND = {
    HOLDS: "decides on all keys again",
    BROKEN: "does not decide on all keys again",
}
