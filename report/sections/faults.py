"""What happens to an API when its store fails: the table of faults, in words and figures."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

from report.analysis.campaign_analysis import Analysis
from report.analysis.faults import (
    NEVER,
    FaultCase,
    FaultGroup,
    Spread,
    answer_share,
    fault_runs_of,
    fault_words,
    faults_of,
    over_admission,
    p99_before,
    predicted_over_admission,
    recovery,
    seconds_text,
)
from report.analysis.load_text import LOAD_FIELDS, load_text
from report.base.format import ABSENT, count, mebibytes, milliseconds, percent, plural
from report.results.model import Run, fault_title
from report.results.records import Fault
from report.sections.printed_programs import counted_text
from report.sections.runs import run_link, run_reasons, run_verdict
from report.sections.section import (
    RAW,
    Column,
    Section,
    Table,
    TableCell,
    TableGroup,
    TableRow,
    link_cell,
    named,
    numbers,
    reasons_cell,
    sort_key,
    table_of,
    words,
)

TITLE = "What happens to your API when …"

NOTE = (
    "One open loop sends at the same rate to all targets while something breaks on purpose. These runs tell "
    "nothing about speed, and are in no ranking. Figures are medians over the runs, in brackets their range; "
    "docs/faults.md defines each."
)

CAPTION = (
    "Outage seen: from the first to the last 100 ms in which requests were not served. Recovery: the first "
    "of three seconds in a row with 99 % served and a p99 of at most twice that before."
)

#: Name and unit of the columns after target and load.
COLUMNS = (
    ("Outage", "s: injected / seen"),
    ("Errors", "while it lasts"),
    ("First error", "s after"),
    ("Recovery", "s after"),
    ("p99", "ms: before / worst"),
    ("Lost", "requests"),
    ("Over quota", "admitted"),
    ("Fails", ""),
    ("Memory peak", "MiB, servers"),
    ("Reconnections", "of the store"),
)

#: A smaller share of the answers is not named.
_LEAST_SHARE = 0.005

_BEHAVIOURS = {
    "open": "open",
    "closed": "closed",
    "errors": "with errors",
    "waits": "waits",
    "unchanged": "unchanged",
}


def spread_text(spread: Spread | None, show: Callable[[float | None], str]) -> tuple[str, str]:
    """The median, and the range over several runs where they differ."""
    if spread is None:
        return ABSENT, ""
    low, high = show(spread.low), show(spread.high)
    return show(spread.middle), f"{low}–{high}" if low != high else ""


def _cell(
    spread: Spread | None,
    show: Callable[[float | None], str],
    absent: str = ABSENT,
    before: str = "",
    more: str = "",
) -> TableCell:
    """`before` stands before the median, `more` after the range."""
    if spread is None:
        return TableCell(f"{before}{absent}", kind="number", sort="")
    text, span = spread_text(spread, show)
    ranges = "; ".join(filter(None, (span, more)))
    return TableCell(f"{before}{text}", range=ranges, kind="number", sort=sort_key(min(spread.middle, 1e12)))


def _share(value: float | None) -> str:
    if value is None:
        return ABSENT
    whole = 100 * value
    return percent(whole, 0 if whole in (0, 100) else 1)


def _outage(case: FaultCase) -> TableCell:
    injected = case.spread(lambda each: each.figures.outage_injected_s)
    seen = case.spread(lambda each: each.figures.outage_seen_s)
    before = f"{seconds_text(injected.middle)} / " if injected and seen else ""
    return _cell(seen if injected else None, seconds_text, before=before)


def _moment(value: float | None) -> str:
    return "< 0.1" if value is not None and value < 0.1 else seconds_text(value)


def _p99(case: FaultCase) -> TableCell:
    before = case.spread(p99_before)
    worst = case.spread(lambda each: each.figures.p99_worst_us)

    def show(us: float | None) -> str:
        return milliseconds(None if us is None else us / 1000)

    return _cell(
        worst, show, before=f"{show(before.middle if before else None)} / " if before or worst else ""
    )


def _first_error(case: FaultCase) -> TableCell:
    found = case.spread(lambda each: each.figures.first_error_s)
    without = len(case.counted) - (found.runs if found else 0)
    more = f"none in {without}" if found and without else ""
    return _cell(found, _moment, "none" if case.counted else ABSENT, more=more)


def _errors(case: FaultCase) -> TableCell:
    found = case.spread(lambda each: each.figures.error_share)
    return _cell(found, _share, "no answers" if case.counted else ABSENT)


def _recovery(case: FaultCase) -> TableCell:
    found = case.spread(recovery)
    if found is None and case.counted:
        return TableCell(
            "not known", kind="number", sort="", hint=case.counted[0].figures.recovery_text or ""
        )
    return _cell(found, seconds_text)


def _signed(value: float | None) -> str:
    return ABSENT if value is None else f"{value:+,.0f}".replace("-", "−")


def _over_admission(case: FaultCase) -> TableCell:
    found, model = case.spread(over_admission), case.spread(predicted_over_admission)
    generous = any(each.figures.over_admission is None for each in case.counted)
    more = f"model {_signed(model.middle)}" if model else ""
    cell = _cell(found, _signed, "not applicable" if generous else ABSENT, more=more)
    return replace(cell, kind="number over") if found else cell


def behaviour_of(case: FaultCase) -> str:
    found = Counter(each.figures.behaviour for each in case.counted)
    return found.most_common(1)[0][0] if found else ""


def _answers_text(case: FaultCase) -> str:
    """`admitted 2 %, failed 98 %` while the fault was in place; what is none is left out."""
    found = []
    for name, word in (("allowed", "admitted"), ("limited", "limited"), ("failed", "failed")):
        share = case.spread(answer_share(name))
        if share and share.middle >= _LEAST_SHARE:
            found.append(f"{word}\u00a0{percent(100 * share.middle, 0)}".replace(" ", "\u00a0"))
    return ", ".join(found)


def _fails(case: FaultCase) -> TableCell:
    behaviour = behaviour_of(case)
    # Where requests wait, the few that ended tell nothing.
    shares = "no answers" if behaviour == "waits" else _answers_text(case)
    return TableCell(_BEHAVIOURS.get(behaviour, ABSENT), range=shares, kind=f"text behaviour {behaviour}")


def _cells(case: FaultCase) -> tuple[TableCell, ...]:
    return (
        _outage(case),
        _errors(case),
        _first_error(case),
        _recovery(case),
        _p99(case),
        _cell(case.spread(lambda each: each.figures.requests_lost), count),
        _over_admission(case),
        _fails(case),
        _cell(case.spread(lambda each: each.figures.server_memory_peak_bytes), mebibytes),
        _cell(case.spread(lambda each: each.record.store_reconnections), count),
    )


def _when(fault: Fault) -> str:
    length = f", for {fault.length_s:g} s" if fault.length_s else ""
    return f"{fault.start_s:g} s into the window{length}"


def _reason(case: FaultCase) -> str:
    for run in case.runs:
        if run.failure:
            return run.failure
        record = case.record_of(run)
        if record and not case.faulted(run):
            return record.note or "it was not injected"
        if run.reasons:
            return "; ".join(f"{reason.rule} {reason.text}" for reason in run.reasons)
    return "no run was recorded"


def _row(case: FaultCase, load: str) -> TableRow:
    verdict = "invalid" if case.verdict == "failed" else case.verdict
    cells = (
        *named(case.identity.label, load),
        TableCell(counted_text(case.runs, case.missing, case.counted)),
        TableCell(case.verdict, kind=f"verdict {verdict}"),
        *(_cells(case) if case.counted else ()),
    )
    return TableRow("", cells, "" if case.counted else _reason(case), kept=4)


def recovery_notes(groups: Sequence[FaultGroup]) -> tuple[str, ...]:
    found: dict[str, list[str]] = {}
    for group in groups:
        for case in group.cases:
            for each in case.counted:
                text = each.figures.recovery_text
                named = f"{case.identity.label}, {group.text}"
                if text and named not in found.setdefault(text, []):
                    found[text].append(named)
    return tuple(
        f"Recovery {text}: {'; '.join(named) if len(named) <= 4 else plural(len(named), 'row')}."
        for text, named in found.items()
    )


def _notes(run: Run) -> tuple[str, ...]:
    records = faults_of(run)
    return (
        *run_reasons(run),
        *(f"{each.name or each.action}: {each.note}" for each in records if each.note),
        *(f"{each.name or each.action} was not undone" for each in records if not each.undone),
    )


def _run_row(run: Run) -> TableRow:
    faults = " ".join(fault_title(fault) for fault in run.identity.faults)
    cells = (
        TableCell(f"{run.identity.label}, {faults}"),
        TableCell(f"{run.run}", kind="number"),
        run_verdict(run),
        reasons_cell(_notes(run)),
        link_cell(run_link(run.file), run.file),
    )
    return TableRow("", cells)


def fault_table(groups: Sequence[FaultGroup]) -> Table:
    identities = [case.identity for group in groups for case in group.cases]
    varying = [part for part in LOAD_FIELDS if len({part.read(each) for each in identities}) > 1]
    columns = (*words("Target", "Load", "Runs", "Verdict"), *numbers(COLUMNS, "number"))
    found = []
    for group in groups:
        rows = [_row(case, load_text(case.identity, varying)) for case in group.cases]
        if not varying:
            rows = [replace(row, cells=(row.cells[0], *row.cells[2:]), kept=3) for row in rows]
        hint = f"{group.text}, {_when(group.fault)}"
        found.append(TableGroup(tuple(rows), f"… {fault_words(group.fault)}", hint))
    if not varying:
        columns = (columns[0], *columns[2:])
    return Table("fault-rows", "", columns, tuple(found), CAPTION, sortable=False, kind="figures faults")


def common_load(groups: Sequence[FaultGroup]) -> str:
    identities = [case.identity for group in groups for case in group.cases]
    shared = [
        part
        for part in LOAD_FIELDS
        if len({part.read(each) for each in identities}) == 1
        and not part.only_if_differing
        and part.read(identities[0]) != part.usual
    ]
    return load_text(identities[0], shared)


def faults(analysis: Analysis) -> Section | None:
    groups = analysis.faults
    if not groups:
        return None
    common = common_load(groups)
    return Section(
        "faults",
        TITLE,
        text=(f"{NOTE} All of them: {common}." if common else NOTE,),
        tables=(fault_table(groups),),
        charts=("fault",),
        notes=("Every run and fault: faults.csv.", *recovery_notes(groups)),
        open=True,
    )


def fault_runs(analysis: Analysis) -> Section | None:
    rows = [_run_row(run) for run in fault_runs_of(analysis.faults)]
    columns = (*words("Configuration"), Column("Run"), *words("Verdict", "Notes"), RAW)
    table = table_of("fault-run-rows", columns, rows)
    return (
        Section("fault-runs", "Runs with faults", plural(len(rows), "run"), tables=(table,)) if rows else None
    )


def fault_sentences(groups: Sequence[FaultGroup]) -> list[str]:
    """`When the store restarts, iovalkey: an outage of 1.3 s is seen, recovery after 1.3 s, 513 requests are
    lost; it fails with errors.`"""
    return [
        f"When {fault_words(group.fault)}, {case.identity.label}: {text}."
        for group in groups
        for case in group.cases
        if (text := _sentence(case))
    ]


def _sentence(case: FaultCase) -> str:
    seen = case.spread(lambda each: each.figures.outage_seen_s)
    lost = case.spread(lambda each: each.figures.requests_lost)
    if seen is None or lost is None:
        return ""
    back = case.spread(recovery)
    recovered = (
        "recovery not known"
        if back is None
        else "no recovery"
        if back.middle == NEVER
        else f"recovery after {seconds_text(back.middle)} s"
    )
    outage = f"an outage of {seconds_text(seen.middle)} s is seen" if seen.middle else "no outage is seen"
    over = case.spread(over_admission)
    beyond = f", {_signed(over.middle)} over the quota" if over and over.middle > 0 else ""
    ending = _ENDINGS[behaviour_of(case)]
    return f"{outage}, {recovered}, {count(lost.middle)} requests are lost{beyond}; {ending}"


_ENDINGS = {
    "open": "it fails open",
    "closed": "it fails closed",
    "errors": "it fails with errors",
    "waits": "requests wait",
    "unchanged": "answers are as before",
}
