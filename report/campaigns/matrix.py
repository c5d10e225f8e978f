"""The matrix: rows are targets, columns are questions, and each cell is what the newest campaign found."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from msgspec import Struct

from report.analysis.campaign_analysis import Analysis
from report.analysis.faults import seconds_text
from report.analysis.figures import PARTS, consumer_cpu, node_cpu, p99
from report.analysis.summary import Summary
from report.analysis.texts import AT_FULL_LOAD, LOAD_FIELDS, load_text
from report.base.format import ABSENT, Show, count, joined, microseconds, milliseconds, plural, rate, ratio
from report.base.markdown import code, prose, table
from report.results.load import BROKEN, HOLDS, SKIPPED
from report.results.model import Identity, fault_title, short_label
from report.results.records import Audit, Check, Finding
from report.sections.audit import bounds, findings_of, verdict
from report.sections.cpu import part_kinds
from report.sections.section import Column, Section, Table, TableCell, TableGroup, TableRow, named, words
from report.sections.verdict_text import USUAL_LIMITER
from report.statistics.decision import Comparison

#: Where a question does not depend on the load: it stands in every view.
ANY = ""

#: The condition that is shown first.
USUAL = "light · realistic · 50 connections"
#: Per second. Latencies at this rate stand beside the figures of the same work at any load.
STATED_RATE = 1000


class Question(NamedTuple):
    name: str
    unit: str
    fill: str
    """The command of ratelimit-bench that answers it about a target."""
    show: Show = count


#: By the id of the audit's check.
CHECKS: Mapping[str, Question] = {
    id_: Question(name, unit, "audit --clients {}")
    for id_, name, unit in (
        ("exact-burst-4-servers", "Exact", "at once"),
        ("window-edge", "Exact", "at the edge"),
        ("failover", "Survives", "a failover"),
        ("clocks-500-ms", "Clocks", "0.5 s apart"),
        ("clocks-2-s", "Clocks", "2 s apart"),
        ("clocks-30-s", "Clocks", "30 s apart"),
        ("eviction", "Eviction", "used-up keys"),
        ("ipv6-prefix", "IPv6", "clients by prefix"),
    )
}
_BURST = "exact-burst-4-servers"
_RUN = "run --clients {}"
#: CPU is asked of closed loops alone.
_COST = f"µs/decision {AT_FULL_LOAD}"
_RESTART = f"{_RUN} --fault store-restart"
QUESTIONS: Mapping[str, Question] = {
    "node": Question("Node", f"CPU, {_COST}", _RUN, microseconds),
    "service": Question("Service", f"CPU, {_COST}", _RUN, microseconds),
    "store": Question("Store CPU", _COST, _RUN, microseconds),
    "ratio": Question("Throughput", "to the reference", _RUN, ratio),
    "p99": Question("p99 at a rate", "ms", f"{_RUN} --rate {STATED_RATE}", milliseconds),
    "highest": Question("Highest rate", "kept", f"{_RUN} --find-max-rate", lambda value: f"{rate(value)}/s"),
    "memory": Question("Memory", "bytes/key", "memory --clients {}"),
    "served": Question("Served again", "s after a restart", _RESTART, seconds_text),
    "settled": Question("Settled again", "s after a restart", _RESTART, seconds_text),
    "lost": Question("Lost", "requests in it", _RESTART),
    "over": Question(
        "Over quota", "admitted in it", f"{_RESTART} --rate 500 --traffic fixed --points 1000 --window 60"
    ),
    **CHECKS,
}


#: What is asked of limiters alone.
_OF_LIMITERS = ("ratio", "memory", *CHECKS)
_FAULT_FIGURES = {
    "served": "served_again_s",
    "settled": "recovery_s",
    "lost": "requests_lost",
    "over": "over_admission",
}


class Source(Struct, frozen=True):
    """A campaign or an audit."""

    started_at: str
    machine: str
    link: str


class Answer(Struct, frozen=True):
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
    "campaigns are not compared: a ratio is one within its campaign. The p99 is that at "
    f"{count(STATED_RATE)} requests/s, or at the rate of the condition."
)


@dataclass(slots=True)
class Matrix:
    """Answers by condition, target and question, the newest first."""

    answers: dict[tuple[str, Key, str], list[Answer]] = field(default_factory=dict)
    sentences: list[tuple[int, str, str]] = field(default_factory=list)
    """How many targets it is about, when its campaign began, and the sentence."""
    targets: dict[Key, list[str]] = field(default_factory=dict)
    """How commands name them."""
    loads: dict[str, str] = field(default_factory=dict)
    """By condition: its flags."""
    works: dict[str, str] = field(default_factory=dict)
    """By condition: the same without its load."""
    lacks: dict[tuple[Key, str], str] = field(default_factory=dict)
    """Why a question is not asked of a target."""
    skipped: dict[tuple[str, str], str] = field(default_factory=dict)
    """The same, by how a command names the target."""

    def _name(self, key: Key, text: str) -> None:
        names = self.targets.setdefault(key, [])
        if text not in names:
            names.append(text)

    def _put(self, condition: str, key: Key, question: str, answer: Answer) -> None:
        found = self.answers.setdefault((condition, key, question), [])
        found.append(answer)
        found.sort(key=lambda each: each.source.started_at, reverse=True)

    def _figure(
        self,
        where: tuple[str, Identity],
        question: str,
        value: float | None,
        ends: tuple[float | None, float | None] | None,
        source: Source,
        versions: str = "",
    ) -> None:
        """`where` are the condition and the target."""
        condition, identity = where
        show, (low, high) = QUESTIONS[question].show, ends or (None, None)
        if value is not None:
            known = None if low is None or high is None else (low, high)
            interval = f"{show(low)}–{show(high)}" if known and show(low) != show(high) else ""
            answer = Answer(show(value), interval, source, versions, ends=known)
            self._name(_key(identity), identity.label)
            self._put(condition, _key(identity), question, answer)

    def add_campaign(self, analysis: Analysis, source: Source) -> None:
        """Medians over its runs, with the interval or the range over the runs."""
        for part in analysis.runtimes:
            for ranking in (each for cell in part.cells for each in cell.rankings):
                for row in ranking.summaries:
                    self._row(row, None if ranking.open_loop else ranking.versus_base(row), source)
            for control in part.controls:
                self._row(control, None, source)
        for skip in (analysis.campaign.manifest or {}).get("plan", {}).get("skips", ()):
            if skip["reason"].startswith("store-restart"):
                self.skipped |= {(skip["asked"], question): skip["reason"] for question in _FAULT_FIGURES}
        self._sentence(analysis, source)
        for searched in analysis.max_rates:
            if (found := searched.estimate) and found.estimate:
                where, ends = (_work(searched.identity), searched.identity), (found.low, found.high)
                self._figure(where, "highest", found.estimate, ends, source)
        for memory in analysis.memory:
            for line in [slope.line for slope in memory.slopes[:1]]:
                self._figure((ANY, memory.identity), "memory", line.slope, (line.low, line.high), source)
        for case in (case for group in analysis.faults for case in group.cases):
            if fault_title(case.fault) == "store-restart":
                for question, figure in _FAULT_FIGURES.items():
                    if spread := case.spread(figure):
                        ends = (spread.low, spread.high)
                        self._figure((ANY, case.identity), question, spread.middle, ends, source)

    def _row(self, summary: Summary, versus_base: Comparison | None, source: Source) -> None:
        identity = summary.identity
        if identity.copy or not summary.has_figures:
            return
        stated = identity.rate_per_second == STATED_RATE
        where, key = ((_work if stated else _condition)(identity), identity), _key(identity)
        self.loads.setdefault(where[0], _load_flags(identity))
        self.works.setdefault(_condition(identity), _work(identity))
        for part in {"service", "store"} - set(part_kinds(identity)):
            self.lacks[key, part] = f"it has no {part}"
        if summary.reference:
            self.lacks[key, "ratio"] = "it is the reference"
        if identity.ceiling:
            self.lacks |= dict.fromkeys(((key, each) for each in _FAULT_FIGURES), "it has no store")
        if identity.decided_by == "nothing":
            self.lacks |= dict.fromkeys(((key, each) for each in _OF_LIMITERS), "it limits nothing")
        seen = next((run.versions for run in summary.selected_first if run.versions), {})
        parts = [part for part in ("client", "limiter", "store") if seen.get(part)]
        versions = ", ".join(f"{part} {seen[part]}" for part in parts)
        if versus_base and versus_base.ratio and (found := versus_base.interval):
            self._figure(where, "ratio", versus_base.ratio, (found.low, found.high), source, versions)
        # Nothing is decided without a limiter: what a request costs.
        node = consumer_cpu if identity.ceiling else node_cpu
        closed = {"node": node, "service": PARTS["service"], "store": PARTS["store"]}
        for question, figure in ({"p99": p99} if identity.open_loop else closed).items():
            median = summary.figure_of(figure)
            self._figure(where, question, median.value, median.range, source, versions)

    def add_audit(self, audit: Audit, link: str) -> None:
        """What it saw of promises about exactness."""
        source = Source(audit.started_at, audit.runtime, link)
        for audited in audit.targets:
            target, findings = audited.target, findings_of(audited)
            # What needs no store has none, as in a campaign.
            none = target.topology == "none"
            label = short_label(target.label, target.topology)
            key = (label, "" if none else target.store, "" if none else target.topology)
            self._name(key, target.text.replace(":standalone", ""))
            for check in CHECKS:
                finding = findings.get(check)
                if finding and finding.status in (HOLDS, BROKEN):
                    good = finding.status == HOLDS
                    self._put(ANY, key, check, Answer(verdict(finding), bounds(finding), source, good=good))
                elif finding and finding.status == SKIPPED:
                    self.lacks[key, check] = finding.reason or ""

    def empty(self, condition: str, key: Key, question: str) -> TableCell:
        """Its hint is the command that would fill it, or why none would."""
        skips = (self.skipped.get((name, question)) for name in self.targets[key])
        if reason := self.lacks.get((key, question)) or next(filter(None, skips), None):
            return TableCell(ABSENT, kind="number", sort="", hint=f"does not apply: {reason}")
        command = QUESTIONS[question].fill.format(self.targets[key][0])
        more = f" --checks {question}" if question in CHECKS else ""
        if QUESTIONS[question].fill == _RUN:
            more = self.loads.get(condition, "")
        return TableCell(ABSENT, kind="number", sort="", hint=f"to fill it: ratelimit-bench {command}{more}")

    def _sentence(self, analysis: Analysis, source: Source) -> None:
        """What a campaign says of clients on a standalone store, and of what a limiter costs."""
        for cell in analysis.cells[:1]:
            known = sorted(
                (cost, row.identity.short_label, row.identity.client)
                for row in cell.summaries
                if row.identity.topology == "standalone"
                if row.identity.limiter == USUAL_LIMITER and not row.identity.options
                if (cost := row.figure_of(node_cpu).value) is not None
            )
            bare = [
                cost
                for row in cell.controls
                if row.identity.client == "none" and (cost := row.figure_of(consumer_cpu).value)
            ]
            if cell.identity.open_loop or len({client for *_, client in known}) < 2 or not bare:
                continue
            (least, cheap, _), (most, dear, _) = known[0], known[-1]
            text = (
                f"{AT_FULL_LOAD.capitalize()} with a standalone store {cheap} costs Node least, "
                f"{microseconds(least)} µs of CPU a decision, {dear} most, {microseconds(most)} µs; a server "
                f"without a limiter spends {microseconds(bare[0])} µs a request "
                f"({source.machine}, {source.started_at[:10]})."
            )
            self.sentences.append((len(known), source.started_at, text))

    def first_screen(self) -> list[str]:
        """At most two sentences."""
        told = [text for *_, text in sorted(self.sentences, reverse=True)[:1]]
        found = self.answers.items()
        exact = {key: newest.good for (_, key, asked), (newest, *_) in found if asked == _BURST}
        if exact:
            broken = sorted({self.targets[key][0] for key, good in exact.items() if not good})
            but = f", not {joined(broken)}" if broken else ""
            held = f"{sum(map(bool, exact.values()))} of {len(exact)} targets{but}"
            told.append(f"Exact when many ask at once: {held}.")
        return told


#: All of a load but its length, which no answer depends on.
_PARTS = tuple(part for part in LOAD_FIELDS if part.name != "Length" and not part.only_if_differing)


def _condition(identity: Identity) -> str:
    """`light · realistic · 50 connections`."""
    return load_text(identity, [part for part in _PARTS if part.read(identity) != part.usual])


def _work(identity: Identity) -> str:
    """A condition without its load: `light · realistic`."""
    parts = [part for part in _PARTS if part.name != "Load" and part.read(identity) != part.usual]
    return load_text(identity, parts)


def _key(identity: Identity) -> Key:
    store, topology = ("", "") if identity.ceiling else (identity.store_text, identity.topology or "")
    return (identity.short_label, store, topology)


def _load_flags(identity: Identity) -> str:
    """Of a load but its rate, at which no CPU time is asked for; without what is usual."""
    flags = {
        "layer": (identity.layer, "server"),
        "workload": (identity.workload, "light"),
        "traffic": (identity.traffic, "realistic"),
        "concurrency": (identity.connections, 50),
        **{name: (number or 1, 1) for name, number in identity.counts.items()},
        "cost": (identity.limits[3] if identity.limits else 1, 1),
    }
    return "".join(f" --{name} {value}" for name, (value, usual) in flags.items() if value != usual)


def _cell(found: Sequence[Answer]) -> TableCell:
    """The newest answer; one of another machine beside it where their intervals lie apart."""
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


class MatrixView(Struct, frozen=True):
    sentences: tuple[str, ...]
    section: Section
    filters: Mapping[str, Sequence[str]]
    rows: Mapping[str, Mapping[str, str]]
    """What each row has under each filter."""


def view_of(matrix: Matrix) -> MatrixView:
    """A row a target and condition."""
    answers = matrix.answers
    size = Counter(condition for condition, _, _ in answers if condition != ANY)
    # The usual one first, then those with most answers.
    conditions = sorted(size, key=lambda each: (each != USUAL, -size[each], each)) or [ANY]
    # What does not depend on the load stands in the first view of its work.
    home = {work: each for each in reversed(conditions) if (work := matrix.works.get(each)) in size}
    conditions = [each for each in conditions if each not in home]
    rows: list[TableRow] = []
    values: dict[str, dict[str, str]] = {}
    for condition in conditions:
        work = matrix.works.get(condition, condition)
        wanted = {condition, *([ANY] if condition == conditions[0] else [])}
        wanted |= {work} if home.get(work) == condition else set()
        own = {key for where, key, _ in answers if where in wanted}
        measured = {key for where, key, _ in answers if where == condition}
        for key in sorted(own, key=lambda each: (each not in measured, each)):
            row_id, (label, store, topology) = f"m{len(rows) + 1}", key
            cells = []
            for question in QUESTIONS:
                places = ((where, key, question) for where in (condition, work, ANY))
                found = next(filter(None, map(answers.get, places)), [])
                cells.append(_cell(found) if found else matrix.empty(condition, key, question))
            rows.append(TableRow(row_id, (*named(label, store, topology), *cells, TableCell(condition))))
            client = re.split(r"[@+~:]", label)[0]
            values[row_id] = {"condition": condition, "client": client, "store": store, "topology": topology}
    columns = (
        *words("Target", "Store", "Topology"),
        *(Column(each.name, each.unit) for each in QUESTIONS.values()),
        *words("Condition"),
    )
    fills: dict[str, dict[str, None]] = {}
    for each in QUESTIONS.values():
        fills.setdefault(each.fill.format("TARGET"), {})[each.name] = None
    said = "; ".join(f"ratelimit-bench {command}: {', '.join(names)}" for command, names in fills.items())
    offered = {name: dict.fromkeys(row[name] for row in values.values() if row[name]) for name in _FILTERS}
    section = Section(
        "matrix",
        "All targets",
        tables=(Table("matrix-rows", "", columns, (TableGroup(tuple(rows)),)),),
        notes=(
            CAPTION,
            f"The hint of an empty cell is the command that would fill it. {said}.",
        ),
        open=True,
    )
    several = {name: sorted(found) for name, found in offered.items() if len(found) > 1}
    if "condition" in several:
        several["condition"] = conditions
    return MatrixView(tuple(matrix.first_screen()), section, several, values)


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
    heads = [f"{CHECKS[name].name} {CHECKS[name].unit}" for name in made]
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
