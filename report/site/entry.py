"""A campaign reduced to what the page above all campaigns says of it. Nothing is computed here that its own
page does not have: the texts are those of its sections."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, urlencode

from report.analysis.best_performers import BestPerformer, best_performers
from report.analysis.campaign_analysis import Analysis
from report.analysis.comparison_text import name
from report.analysis.deciders import decided_by_text
from report.analysis.decision_cpu import decision_cpu_of
from report.analysis.faults import FaultCase
from report.analysis.figures import consumer_cpu
from report.analysis.load_text import plural_cpus
from report.analysis.runtimes import RuntimeResults
from report.analysis.steadiness import unsteady_controls, unsteady_text
from report.analysis.summary import Summary
from report.base.format import ABSENT, joined, microseconds, plural
from report.campaigns.campaign_record import CampaignRecord, record_of
from report.html.page import page_heading
from report.results.model import Campaign, Identity, Run
from report.sections.best_performers import BestRow, best_row
from report.sections.boundary import promise_rows
from report.sections.faults import COLUMNS as FAULT_COLUMNS
from report.sections.faults import FaultRow, fault_lead, fault_section
from report.sections.filters import row_values
from report.sections.first_screen import cell_title, decision_cells
from report.sections.memory_per_key import memory_table, memory_text
from report.sections.recommendation import recommend
from report.sections.script_text import mode_text
from report.sections.spread_text import SpreadFigure, spread_figure
from report.sections.store_operations import store_sentences
from report.sections.verdict_text import few_samples_text
from report.statistics.power import MIN_RUNS_FOR_A_CLAIM

#: What a reader filters the page by; `machine` is the machine and the runtime.
FILTERS = (
    "layer",
    "client",
    "limiter",
    "decided by",
    "algorithm",
    "store",
    "topology",
    "traffic",
    "machine",
    "campaign",
)
#: Of a row by filter: one value, several where it is about several targets, empty where it stands beside all.
Values = Mapping[str, str | list[str]]

#: Of a row that is about no target.
ANY: Values = dict.fromkeys(FILTERS, "")

#: Figures of a table of faults that the page repeats.
FAULT_FIGURES = ("Outage", "Errors", "Recovery", "Over quota", "Fails")

#: Why a row that is alone in its family is not shown to be the best.
ONLY_ONE = "it is the only one here"


@dataclass(frozen=True, slots=True)
class RunLink:
    number: int
    address: str
    text: str
    """Of its verdict."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetRow:
    """A configuration of a campaign, as its first screen shows it."""

    label: str
    load: str
    decided_by: str
    reason: str
    """Why it has no figures; empty where it has."""
    throughput: str
    p99: str
    cpu: str
    conclusion: str
    verdict: str
    control: bool
    values: Values
    address: str
    """Of the campaign's page, with a filter."""
    runs: tuple[RunLink, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """The rows of one kind of decider on one store under one work, which were compared with each other."""

    layer: str
    title: str
    store: str
    decided_by: str
    """`decided by a library`."""
    settings: str
    """What its rows have in common besides, such as one script; empty where each client has its own."""
    traffic: str
    open_loop: bool
    rate_per_second: float | None
    latency_unit: str
    cpu_unit: str
    labels: tuple[str, ...]
    """Of its rows that have figures."""
    best: BestRow
    cheapest: str
    """The row that was shown to cost less CPU than every other one; empty without one."""
    cheapest_cpu: SpreadFigure
    """Of `cheapest`, without one of the row that stands first."""
    cheapest_parts: str
    """`server 39 µs, store 12 µs`: of one decision."""
    why_none: str
    """Why nothing was shown where nothing was; empty where the rows were compared and do not differ."""
    values: Values

    @property
    def scope(self) -> tuple[str, ...]:
        """What a family of another campaign must share to be the same question."""
        return (
            self.layer,
            self.title,
            self.store,
            self.decided_by,
            self.settings,
            "" if self.rate_per_second is None else f"{self.rate_per_second:g}",
            *sorted(self.labels),
        )

    @property
    def where(self) -> str:
        """`redis, decided by a library, one script for all`."""
        return ", ".join(filter(None, (self.store, self.decided_by, self.settings)))


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultedTarget:
    """What one fault did to one target."""

    label: str
    words: str
    failover: bool
    """A replica had to take over."""
    counted: int
    planned: int
    recovered: int
    """Runs."""
    figures: tuple[tuple[str, str], ...]
    """Text and range, in the order of `FAULT_FIGURES`; empty where no run counts."""
    reason: str
    values: Values
    runs: tuple[RunLink, ...]

    @property
    def survives(self) -> bool:
        """It recovered in every run, and every planned run counts."""
        return 0 < self.planned == self.counted == self.recovered

    @property
    def ending(self) -> str:
        """What became of it, after its name."""
        if self.survives:
            return "recovered in every run"
        if not self.counted:
            return "has no run that counts"
        if self.recovered == self.counted:
            return "recovered in every run that counts, but some do not count"
        return "did not recover in every run"


@dataclass(frozen=True, slots=True)
class Promise:
    """What a limiter promised under traffic `boundary`, and what was seen."""

    label: str
    algorithm: str
    promise: str
    promised: str
    seen: str
    holds: str
    values: Values


@dataclass(frozen=True, slots=True)
class MemoryRow:
    label: str
    store: str
    bytes: str
    interval: str
    source: str
    reason: str
    values: Values


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    record: CampaignRecord
    address: str
    """Of its folder on the site, with a slash at its end."""
    heading: str
    place: str
    """`AMD EPYC, 2 CPUs, docker`."""
    lead: str
    decide: str
    command: str
    """That would decide what is open; empty where nothing is, or none is known."""
    own_command: str
    unsteady: str
    """Why it ranks nothing; empty where its controls are steady."""
    conditions: tuple[str, ...]
    layers: tuple[str, ...]
    clients: tuple[str, ...]
    """Targets as `--clients` takes them, without controls."""
    families: tuple[Family, ...]
    rows: tuple[TargetRow, ...]
    faults: tuple[FaultedTarget, ...]
    promises: tuple[Promise, ...]
    memory: tuple[MemoryRow, ...]
    operations: tuple[str, ...]
    """Sentences of the store layer."""

    @property
    def page(self) -> str:
        return f"{self.address}report/index.html"

    @property
    def day(self) -> str:
        return self.record.started_at[:10]

    @property
    def values(self) -> Values:
        """Of a row about the whole campaign."""
        return {**ANY, "machine": self.place, "campaign": self.record.name}


def entry_of(campaign: Campaign, analysis: Analysis, folder: Path, address: str) -> Entry:
    """What stays of a campaign when its runs are let go.

    Args:
        address: of its folder on the site, with a slash at its end.
    """
    record = record_of(campaign, analysis.summaries, folder)
    made = _Maker(record, analysis, address, _place(record, campaign))
    found = recommend(analysis) if analysis.ordered else None
    manifest = campaign.manifest or {}
    return Entry(
        record=record,
        address=address,
        heading=page_heading(analysis),
        place=made.place,
        lead=found.lead if found else _lead(analysis),
        decide=found.decide if found else "",
        command=found.command if found else "",
        own_command=manifest.get("command", ""),
        unsteady=unsteady_text(unsteady_controls(analysis.summaries)),
        conditions=tuple(text.rstrip(".") for text in manifest.get("conditions", ())),
        layers=tuple(dict.fromkeys(entry.identity.layer for entry in (*campaign.runs, *campaign.operations))),
        clients=tuple(_targets(campaign)),
        families=made.families(),
        rows=made.rows(),
        faults=made.faults(),
        promises=made.promises(),
        memory=made.memory(),
        operations=tuple(store_sentences(analysis.store_operations)),
    )


def _lead(analysis: Analysis) -> str:
    """Of a campaign without rows of speed."""
    if analysis.only_memory:
        return memory_text(analysis.memory)
    if lead := fault_lead(analysis.faults):
        return lead
    sentences = store_sentences(analysis.store_operations)
    return sentences[0] if sentences else "No run counts, so nothing can be recommended."


def _place(record: CampaignRecord, campaign: Campaign) -> str:
    facts = dict(record.environment)
    runtime = facts.get("Runtime", "runtime not known").split(",")[0]
    machine = (campaign.manifest or {}).get("machine")
    if machine is None:
        return f"machine not known, {runtime}"
    return f"{machine['cpu_model']}, {plural_cpus(machine['cpus'])}, {runtime}"


def _targets(campaign: Campaign) -> list[str]:
    """As the plan names them."""
    plan = (campaign.manifest or {}).get("plan", {})
    targets = [each["configuration"].get("target", {}) for each in plan.get("configurations", ())]
    controls = {
        entry.identity.label
        for entry in (*campaign.planned, *campaign.planned_faults)
        if entry.identity.control
    }
    found = [each["text"] for each in targets if each.get("text") and each.get("label") not in controls]
    return list(dict.fromkeys(found))


@dataclass(frozen=True, slots=True)
class _Maker:
    """Makes the rows of one campaign."""

    record: CampaignRecord
    analysis: Analysis
    address: str
    place: str

    def _of(self, identity: Identity) -> dict[str, str]:
        """Values of the filters; of a control those of any row, where it has none of its own."""
        beside = identity.ceiling
        return {
            "layer": identity.layer,
            "client": identity.client,
            "limiter": "" if beside else identity.limiter or "not known",
            "decided by": "" if beside else identity.decided_by or "not known",
            "algorithm": "" if beside else identity.algorithm or "not known",
            "store": "" if beside else identity.store_text,
            "topology": "" if beside else identity.topology or "not known",
            "traffic": identity.traffic,
            "machine": self.place,
            "campaign": self.record.name,
        }

    def _values(self, summary: Summary) -> Values:
        return {**self._of(summary.identity)}

    def _all_values(self, summaries: Sequence[Summary]) -> Values:
        """The values that any of the rows has."""
        each = [self._of(summary.identity) for summary in summaries]
        return {key: list(dict.fromkeys(one[key] for one in each)) for key in FILTERS}

    def _runs(self, runs: Sequence[Run]) -> tuple[RunLink, ...]:
        return tuple(
            RunLink(
                run.run,
                self.address + quote(run.file),
                run.verdict if run.measured else run.status,
            )
            for run in runs
        )

    def _filtered(self, summary: Summary) -> str:
        """The campaign's page with this client alone."""
        asked = {"client": row_values(summary)["client"]}
        return f"{self.address}report/index.html?{urlencode(asked)}"

    def rows(self) -> tuple[TargetRow, ...]:
        found: list[TargetRow] = []
        if self.analysis.only_memory:
            return ()
        by_id = {summary.id: summary for summary in self.analysis.summaries}
        seen: set[str] = set()
        for runtime in self.analysis.runtimes:
            for cell, shown in zip(runtime.cells, decision_cells(runtime.cells), strict=True):
                for row in shown.rows:
                    if row.summary_id in seen:
                        continue
                    seen.add(row.summary_id)
                    summary = by_id[row.summary_id]
                    found.append(
                        TargetRow(
                            label=summary.identity.label,
                            load=cell_title(cell),
                            decided_by=summary.identity.decided_by or "not known",
                            reason="" if summary.figures else row.no_figures_reason,
                            throughput=f"{row.throughput.plain} {cell.text.rate_unit}",
                            p99=f"{row.p99.plain} {cell.text.latency_unit}",
                            cpu=f"{row.cpu.plain} {cell.text.cpu_unit}",
                            conclusion=row.status or ABSENT,
                            verdict=", ".join(filter(None, (row.verdict, row.outcome))),
                            control=summary.identity.control,
                            values=self._values(summary),
                            address=self._filtered(summary),
                            runs=self._runs(summary.runs),
                        )
                    )
        return tuple(found)

    def families(self) -> tuple[Family, ...]:
        """None where nothing but memory was measured, or a rate was searched: neither compares rows."""
        if self.analysis.only_memory or self.analysis.max_rates:
            return ()
        return tuple(
            self._family(each) for runtime in self.analysis.runtimes for each in _of_runtime(runtime)
        )

    def _family(self, found: BestPerformer) -> Family:
        ranking, identity = found.ranking, found.best.identity
        by_id = {summary.id: summary for summary in found.rows}
        cheapest = by_id.get(ranking.best.get("cpu", ""))
        return Family(
            layer=identity.layer,
            title=cell_title(found.cell),
            store=identity.store_text,
            decided_by=decided_by_text(identity),
            settings=mode_text(ranking) if ranking.group.same_script or ranking.group.settings else "",
            traffic=identity.traffic,
            open_loop=ranking.open_loop,
            rate_per_second=identity.rate_per_second,
            latency_unit=found.cell.text.latency_unit,
            cpu_unit=found.cell.text.cpu_unit,
            labels=tuple(name(row) for row in found.rows if row.figures),
            best=best_row(found),
            cheapest=name(cheapest) if cheapest else "",
            cheapest_cpu=spread_figure(cheapest or found.best, consumer_cpu, microseconds),
            cheapest_parts=_parts(cheapest) if cheapest else "",
            why_none=_why_none(found),
            values=self._all_values(found.rows),
        )

    def faults(self) -> tuple[FaultedTarget, ...]:
        section = fault_section(self.analysis.faults)
        if section is None:
            return ()
        return tuple(
            self._faulted(case, row, block.words)
            for group, block in zip(self.analysis.faults, section.blocks, strict=True)
            for case, row in zip(group.cases, block.rows, strict=True)
        )

    def _faulted(self, case: FaultCase, row: FaultRow, words: str) -> FaultedTarget:
        names = [title for title, _ in FAULT_COLUMNS]
        cells = [row.cells[names.index(title)] for title in FAULT_FIGURES] if row.cells else []
        return FaultedTarget(
            label=row.target,
            words=words,
            failover=_is_failover(case),
            counted=len(case.counted),
            planned=len(case.runs) + len(case.missing),
            recovered=sum(each.figures.recovery == "recovered" for each in case.counted),
            figures=tuple((cell.text, cell.range) for cell in cells),
            reason=row.reason,
            values=self._of(case.identity),
            runs=self._runs(case.runs),
        )

    def promises(self) -> tuple[Promise, ...]:
        by_id = {summary.id: summary for summary in self.analysis.ordered}
        return tuple(
            Promise(
                row.configuration,
                row.algorithm,
                row.promise,
                row.promised.text,
                row.seen.text,
                row.holds.text,
                self._values(by_id[row.summary_id]),
            )
            for row in promise_rows(self.analysis.ordered)
        )

    def memory(self) -> tuple[MemoryRow, ...]:
        by_id = {summary.id: summary for summary in self.analysis.summaries}
        return tuple(
            MemoryRow(
                row.label,
                row.store,
                row.cells[0] if row.cells else ABSENT,
                row.cells[1] if row.cells else ABSENT,
                row.cells[2] if row.cells else ABSENT,
                row.reason,
                self._values(by_id[row.summary_ids[0]]),
            )
            for row in memory_table(self.analysis.memory)
        )


def _of_runtime(runtime: RuntimeResults) -> tuple[BestPerformer, ...]:
    """Over algorithms where the campaign has several; else its rankings are the families."""
    return best_performers(runtime.cells) or tuple(
        BestPerformer(cell, ranking)
        for cell in runtime.cells
        for ranking in cell.rankings
        if ranking.summaries[0].median
    )


def _parts(summary: Summary) -> str:
    found = decision_cpu_of(summary)
    if found is None:
        return ""
    return ", ".join(f"{kind} {microseconds(value)} µs" for kind, value in found.parts.items())


def _why_none(found: BestPerformer) -> str:
    ranking = found.ranking
    if len([row for row in found.rows if row.median]) < 2:
        return ONLY_ONE
    if found.cell.unsteady:
        return f"nothing is ranked, because {found.cell.unsteady}"
    if ranking.resolution and ranking.resolution.told_apart:
        return "nothing is ranked, because the copy was told apart from its original"
    if ranking.few_runs:
        return f"{plural(ranking.fewest_runs, 'run')} of each, and it takes {MIN_RUNS_FOR_A_CLAIM}"
    if not ranking.group.rankable:
        return "its rows cannot be ranked: store or script is not on record"
    few = few_samples_text(ranking)
    if few:
        return f"{few}: measure longer windows"
    blocked = [pair.comparison.reason for pair in ranking.order if pair.comparison.blocked]
    return blocked[0] if blocked else ""


def _is_failover(case: FaultCase) -> bool:
    """A replica has to take over: a primary of a cluster ends, or hands over."""
    fault = case.fault
    named = (fault.name or "").startswith(("primary-", "manual-failover"))
    killed = fault.action in ("kill", "restart") and fault.role.startswith("store")
    return named or fault.action == "failover" or (killed and case.identity.topology == "cluster")


def labels_text(labels: Sequence[str], most: int = 6) -> str:
    """`a, b and c`; of many the first, and how many more."""
    if len(labels) <= most:
        return joined(labels)
    return f"{', '.join(labels[:most])} and {len(labels) - most} more"
