"""The matrix: rows are targets, columns are questions, and each cell is what the newest campaign found."""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from report.analysis.campaign_analysis import Analysis
from report.analysis.decision_cpu import PARTS, node_cpu
from report.analysis.faults import NEVER, FaultCase, over_admission, recovery, seconds_text
from report.analysis.figures import Figure, consumer_cpu, p99
from report.analysis.load_text import LOAD_FIELDS, load_text
from report.analysis.summary import Summary
from report.base.format import ABSENT, count, joined, microseconds, milliseconds, plural, rate, ratio
from report.base.markdown import code, prose, table
from report.results.audit import BROKEN, HOLDS, SKIPPED
from report.results.model import Identity, fault_title
from report.results.records import Audit, Check, Finding
from report.sections.audit import bounds, findings_of, verdict
from report.sections.section import Column, Section, Table, TableCell, TableGroup, TableRow, named, words
from report.statistics.decision import Comparison

#: Where a question does not depend on the load: it stands in every view.
ANY = ""

#: The condition that is shown first.
USUAL = "light · realistic · 50 connections"

#: Name, unit and the flags of the command that answers it.
QUESTIONS: Mapping[str, tuple[str, str, str]] = {
    "node": ("Node", "CPU, µs/decision", ""),
    "service": ("Service", "CPU, µs/decision", ""),
    "store": ("Store CPU", "µs/decision", ""),
    "ratio": ("Throughput", "to the reference", ""),
    "p99": ("p99 at a rate", "ms", "--rate 1000"),
    "highest": ("Highest rate", "kept", "--find-max-rate"),
    "memory": ("Memory", "bytes/key", "the command memory"),
    "recovery": ("Recovery", "s after a restart", "--fault store-restart"),
    "lost": ("Lost", "requests in it", "--fault store-restart"),
    "over": ("Over quota", "admitted in it", "--fault store-restart"),
    "concurrency": ("Exact", "at once", "the command audit"),
    "edge": ("Exact", "at the edge", "the command audit"),
    "failover": ("Survives", "a failover", "the command audit"),
    "clocks-500-ms": ("Clocks", "0.5 s apart", "the command audit"),
    "clocks-2-s": ("Clocks", "2 s apart", "the command audit"),
    "clocks-30-s": ("Clocks", "30 s apart", "the command audit"),
    "eviction": ("Eviction", "used-up keys", "the command audit"),
    "ipv6-prefix": ("IPv6", "clients by prefix", "the command audit"),
}

#: Checks of an audit, and the question that each answers.
CHECKS = {
    "exact-burst-4-servers": "concurrency",
    "window-edge": "edge",
    **{
        name: name
        for name in ("failover", "clocks-500-ms", "clocks-2-s", "clocks-30-s", "eviction", "ipv6-prefix")
    },
}


@dataclass(frozen=True, slots=True)
class Source:
    """A campaign or an audit."""

    started_at: str
    machine: str
    link: str


@dataclass(frozen=True, slots=True)
class Answer:
    """What one campaign found."""

    text: str
    interval: str
    source: Source
    versions: str = ""
    good: bool | None = None
    """Of a promise: whether it holds."""
    ends: tuple[float, float] | None = None

    def apart(self, other: "Answer") -> bool:
        """The intervals of both do not overlap."""
        if self.ends is None or other.ends is None:
            return False
        return self.ends[1] < other.ends[0] or other.ends[1] < self.ends[0]


Key = tuple[str, str, str]
"""Label, store, topology."""
_FILTERS = ("condition", "client", "store", "topology")

CAPTION = (
    "Each cell is what the newest campaign under its condition found, with its interval, or the range over "
    "its runs; it leads to the report. Machine, date and versions stand in its hint. Figures of two "
    "campaigns are not compared: a ratio is one within its campaign."
)


@dataclass(slots=True)
class Matrix:
    """Answers by condition, target and question, the newest first."""

    answers: dict[tuple[str, Key, str], list[Answer]] = field(default_factory=dict)
    sentences: list[tuple[str, str]] = field(default_factory=list)
    """When its campaign began, and the sentence."""

    def _put(self, condition: str, key: Key, question: str, answer: Answer) -> None:
        found = self.answers.setdefault((condition, key, question), [])
        found.append(answer)
        found.sort(key=lambda each: each.source.started_at, reverse=True)

    def add_campaign(self, analysis: Analysis, source: Source) -> None:
        """Figures of its median runs, with the interval or the range over the runs."""
        for part in analysis.runtimes:
            for cell in part.cells:
                for ranking in cell.rankings:
                    for standing in ranking.standings:
                        versus = None if ranking.open_loop else standing.versus_base
                        self._row(standing.summary, versus, source)
            for control in part.controls:
                self._row(control, None, source)
        self._sentence(analysis, source)
        for searched in analysis.max_rates:
            estimate = searched.estimate
            if estimate and estimate.estimate:
                ends = (estimate.low, estimate.high) if estimate.low and estimate.high else None
                answer = _answer(estimate.estimate, ends, lambda value: f"{rate(value)}/s", source)
                self._put(_condition(searched.identity), _key(searched.identity), "highest", answer)
        for memory in analysis.memory:
            if memory.slopes:
                line = memory.slopes[0].line
                ends = None if line.low is None or line.high is None else (line.low, line.high)
                self._put(ANY, _key(memory.identity), "memory", _answer(line.slope, ends, count, source))
        for group in analysis.faults:
            for case in group.cases:
                if fault_title(case.fault) == "store-restart":
                    self._fault(case, source)

    def _fault(self, case: FaultCase, source: Source) -> None:
        def seconds(value: float | None) -> str:
            return "never" if value == NEVER else seconds_text(value)

        for question, read, show in (
            ("recovery", recovery, seconds),
            ("lost", lambda each: each.figures.requests_lost, count),
            ("over", over_admission, count),
        ):
            if spread := case.spread(read):
                answer = _answer(spread.middle, (spread.low, spread.high), show, source)
                self._put(ANY, _key(case.identity), question, answer)

    def _row(self, summary: Summary, versus_base: Comparison | None, source: Source) -> None:
        identity, figures = summary.identity, summary.figures
        if identity.copy or figures is None:
            return
        key, condition, versions = _key(identity), _condition(identity), _versions(summary)
        if versus_base and versus_base.ratio and versus_base.interval:
            interval = versus_base.interval
            answer = _answer(versus_base.ratio, (interval.low, interval.high), ratio, source, versions)
            self._put(condition, key, "ratio", answer)
        read: Mapping[str, tuple[Figure, Callable[[float | None], str]]] = (
            {"p99": (p99, milliseconds)}
            if identity.open_loop
            else {
                # Nothing is decided without a limiter: what a request costs.
                "node": (consumer_cpu if identity.ceiling else node_cpu, microseconds),
                "service": (PARTS["service"], microseconds),
                "store": (PARTS["store"], microseconds),
            }
        )
        for question, (figure, show) in read.items():
            value = figure(figures)
            if value is not None:
                answer = _answer(value, summary.range_of(figure), show, source, versions)
                self._put(condition, key, question, answer)

    def add_audit(self, audit: Audit, link: str) -> None:
        """What it saw of promises about exactness."""
        source = Source(audit.started_at, audit.runtime, link)
        for target in audit.targets:
            key = (target.target.label, target.target.store, target.target.topology)
            for finding in target.findings:
                if finding.check in CHECKS and finding.status in (HOLDS, BROKEN):
                    good = finding.status == HOLDS
                    answer = Answer(verdict(finding), bounds(finding), source, good=good)
                    self._put(ANY, key, CHECKS[finding.check], answer)

    def _sentence(self, analysis: Analysis, source: Source) -> None:
        """What a campaign says of clients on a standalone store, and of what a limiter costs."""
        for cell in analysis.cells[:1]:
            rows = [row for row in cell.summaries if row.identity.topology == "standalone"]
            known = sorted(
                (cost, row.identity.short_label)
                for row in rows
                if row.figures and (cost := node_cpu(row.figures)) is not None
            )
            bare = [
                cost
                for row in cell.controls
                if row.figures and row.identity.client == "none" and (cost := consumer_cpu(row.figures))
            ]
            clients = {row.identity.client for row in rows if row.figures}
            if cell.identity.open_loop or len(clients) < 2 or not (known and bare):
                continue
            (least, cheap), (most, dear) = known[0], known[-1]
            self.sentences.append(
                (
                    source.started_at,
                    f"With a standalone store {cheap} costs Node least, {microseconds(least)} µs of CPU a "
                    f"decision, {dear} most, {microseconds(most)} µs; a server without a limiter spends "
                    f"{microseconds(bare[0])} µs a request ({source.machine}, {source.started_at[:10]}).",
                )
            )

    def conditions(self) -> list[str]:
        """The usual one first, then those with most answers."""
        size = Counter(condition for condition, _, _ in self.answers if condition != ANY)
        return sorted(size, key=lambda each: (each != USUAL, -size[each], each))

    def first_screen(self) -> list[str]:
        """At most three sentences."""
        told = [text for _, text in sorted(self.sentences, reverse=True)[:1]]
        for good, said in ((True, "Exact when many ask at once"), (False, "Not exact when many do")):
            names = sorted(
                {
                    key[0]
                    for (_, key, question), found in self.answers.items()
                    if question == "concurrency" and found[0].good is good
                }
            )
            told += [f"{said}: {joined(names)}."] if names else []
        return told


def _answer(
    value: float,
    ends: tuple[float, float] | None,
    show: Callable[[float | None], str],
    source: Source,
    versions: str = "",
) -> Answer:
    interval = f"{show(ends[0])}–{show(ends[1])}" if ends and ends[0] != ends[1] else ""
    return Answer(show(value), interval, source, versions, ends=ends)


#: All of a load but its length, which no answer depends on.
_PARTS = tuple(part for part in LOAD_FIELDS if part.name != "Length" and not part.only_if_differing)


def _condition(identity: Identity) -> str:
    """`light · realistic · 50 connections`."""
    named = [part for part in _PARTS if part.read(identity) != part.usual]
    return load_text(identity, named)


def _versions(summary: Summary) -> str:
    seen = next((run.versions for run in summary.median_first if run.versions), {})
    return ", ".join(f"{part} {seen[part]}" for part in ("client", "limiter", "store") if seen.get(part))


def _key(identity: Identity) -> Key:
    store = "" if identity.ceiling else identity.store_text
    return (identity.short_label, store, "" if identity.ceiling else identity.topology or "")


def _cell(question: str, found: Sequence[Answer]) -> TableCell:
    """The newest answer; one of another machine beside it where their intervals lie apart."""
    if not found:
        flags = QUESTIONS[question][2]
        return TableCell(ABSENT, kind="number", sort="", hint=f"to fill it: {flags}" if flags else "")
    newest = found[0]
    others = [
        f"{each.text} on {each.source.machine}"
        for each in found[1:]
        if each.source.machine != newest.source.machine and each.apart(newest)
    ]
    where = [newest.source.machine, newest.source.started_at[:10], newest.versions]
    older = f"{plural(len(found) - 1, 'older campaign')} in the list below" if len(found) > 1 else ""
    return TableCell(
        newest.text,
        range=" | ".join(filter(None, [newest.interval, *others[:1]])),
        kind="number" + ("" if newest.good is None else " holds" if newest.good else " broken"),
        sort=newest.text.replace(",", "").rstrip("×/s"),
        link=newest.source.link,
        hint=", ".join(filter(None, [*where, older])),
    )


@dataclass(frozen=True, slots=True)
class MatrixView:
    """What the page shows."""

    sentences: tuple[str, ...]
    section: Section
    filters: Mapping[str, Sequence[str]]
    rows: Mapping[str, Mapping[str, str]]
    """What each row has under each filter."""


def view_of(matrix: Matrix) -> MatrixView:
    """A row a target and condition."""
    conditions = matrix.conditions() or [ANY]
    rows: list[TableRow] = []
    values: dict[str, dict[str, str]] = {}
    for condition in conditions:
        own = {key for where, key, _ in matrix.answers if where == condition}
        if condition == conditions[0]:
            own |= {key for where, key, _ in matrix.answers if where == ANY}
        for key in sorted(own):
            row_id = f"m{len(rows) + 1}"
            found = {
                question: matrix.answers.get((condition, key, question), [])
                or matrix.answers.get((ANY, key, question), [])
                for question in QUESTIONS
            }
            label, store, topology = key
            answers = (_cell(name, each) for name, each in found.items())
            texts = (*named(label, store, topology), *answers, TableCell(condition))
            rows.append(TableRow(row_id, texts))
            client = re.split(r"[@+~:]", label)[0]
            values[row_id] = {"condition": condition, "client": client, "store": store, "topology": topology}
    columns = (
        *words("Target", "Store", "Topology"),
        *(Column(name, unit) for name, unit, _ in QUESTIONS.values()),
        *words("Condition"),
    )
    fills = [f"{name}: {flags}" for name, _, flags in QUESTIONS.values() if flags]
    offered = {name: dict.fromkeys(row[name] for row in values.values() if row[name]) for name in _FILTERS}
    section = Section(
        "matrix",
        "All targets",
        tables=(Table("matrix-rows", "", columns, (TableGroup(tuple(rows)),), CAPTION),),
        notes=(f"What fills an empty cell, as a flag or a command of ratelimit-bench: {'; '.join(fills)}.",),
        open=True,
    )
    return MatrixView(
        tuple(matrix.first_screen()),
        section,
        {
            name: list(found) if name == "condition" else sorted(found)
            for name, found in offered.items()
            if len(found) > 1
        },
        values,
    )


def conditions_markdown(audits: Sequence[Audit]) -> str:
    """Targets by the conditions of audits, each with the newest finding, and what each condition promises."""
    algorithms: dict[str, str] = {}
    targets: dict[str, dict[str, Finding]] = {}
    checks: dict[str, Check] = {}
    for audit in sorted(audits, key=lambda each: each.started_at):
        checks |= {check.id: check for check in audit.checks if check.id in CHECKS}
        for target in audit.targets:
            text = target.target.text
            algorithms[text] = target.target.algorithm or ""
            targets[text] = targets.get(text, {}) | findings_of(target)
    made = [name for name in CHECKS if name in checks]
    rows = [
        [code(text.replace(":standalone", "")), algorithms[text]]
        + [_condition_cell(findings.get(name)) for name in made]
        for text, findings in sorted(targets.items())
    ]
    about = []
    for name in made:
        found = [findings.get(name) for findings in targets.values()]
        reasons = sorted({each.reason or "" for each in found if each and each.status == SKIPPED})
        about.append(f"- **{prose(checks[name].title)}**: {prose(checks[name].promise)}")
        about[-1] += f" Does not apply: {prose('; '.join(reasons))}." if reasons else ""
    heads = [" ".join(QUESTIONS[CHECKS[name]][:2]) for name in made]
    newest = max(audit.started_at for audit in audits)[:10]
    return "\n".join(
        [
            "# Limiters under what breaks limits",
            "",
            f"From {plural(len(audits), 'audit')}, the newest of {newest}; ✓ holds, ✗ broken, "
            "with what was admitted of what the algorithm admits, – does not apply, ? not checked.",
            "",
            *table(["Target", "Promises", *heads], rows, len(heads) + 2),
            "",
            *about,
            "",
        ]
    )


def _condition_cell(finding: Finding | None) -> str:
    if finding is None:
        return ""
    told = bounds(finding) if finding.status == BROKEN and not (finding.seen or "").startswith("not") else ""
    return prose(verdict(finding)) + (f" ({told})" if told else "")
