"""What happens to an API when its store fails: the table of faults, in words and figures."""

from collections.abc import Callable, Sequence

from msgspec import structs

from report.analysis.campaign_analysis import Analysis
from report.analysis.fault_figures import (
    LOST_CONNECTION,
    NEVER,
    NO_ANSWER,
    FaultCase,
    FaultGroup,
    Spread,
    fault_words,
    faults_of,
    seconds_text,
)
from report.analysis.texts import LoadField, load_text, shared_load_text, varying_fields
from report.base.format import ABSENT, Show, count, joined, mebibytes, milliseconds, percent, plural
from report.results.identity import fault_title
from report.results.model import Run
from report.sections import section
from report.sections.printed_programs import counted_text
from report.sections.run_cells import run_cells

TITLE = "What happens to your API when …"

NOTE = (
    "One open loop sends at the same rate to all targets while something breaks on purpose. These runs tell "
    "nothing about speed, and are in no ranking. Figures are medians over the runs, in brackets their range; "
    "docs/faults.md defines each."
)

CAPTION = (
    "Outage seen: from the first to the last 100 ms in which requests were not served. Served again: the "
    "first of three seconds in a row with 99 % served. Settled again: the same with a p99 of at most twice "
    "that before."
)

#: A cell leaves out an outcome with a smaller share of the answers than this.
_LEAST_SHARE = 0.005

#: A kind of failure is left out when it is rarer than this share of all failures.
_LEAST_FAILURES = 0.1

#: Maps what a target does while the fault lasts to the words of its cell and of its sentence.
_BEHAVIOURS = {
    "open": ("open", "it fails open"),
    "closed": ("closed", "it fails closed"),
    "waits": ("waits", "requests wait"),
    "unchanged": ("unchanged", "answers are as before"),
}

_NOT_KNOWN = "not known"


def _failing_words(case: FaultCase) -> str:
    """Tells what failed requests got: `answers 503`, `answers 503 and loses connections`."""
    total = sum(case.failures.values())
    kinds = [kind for kind, number in case.failures.items() if number >= _LEAST_FAILURES * total]
    codes = [kind for kind in kinds if kind.isdigit()]
    parts = [
        f"answers {joined(codes)}" if codes else "",
        "loses connections" if LOST_CONNECTION in kinds else "",
        "gives no answer in time" if NO_ANSWER in kinds else "",
        # At the limiter layer a call of the limiter fails without a code.
        "makes no decision" if set(kinds) - {*codes, LOST_CONNECTION, NO_ANSWER} else "",
    ]
    return joined(list(filter(None, parts))) or "fails requests"


def _behaviour_words(case: FaultCase) -> tuple[str, str]:
    if case.behaviour == "errors":
        words = _failing_words(case)
        return words, f"it {words}"
    return _BEHAVIOURS[case.behaviour]


def _cell(
    spread: Spread | None, show: Show, absent: str = ABSENT, before: str = "", more: str = ""
) -> section.TableCell:
    """A cell with the median after `before`.

    Its range names the lowest and the highest run where these differ, and then `more`."""
    if spread is None:
        return section.TableCell(f"{before}{absent}", kind="number", sort="")
    low = show(spread.low)
    high = show(spread.high)
    ranges = "; ".join(filter(None, (f"{low}–{high}" if low != high else "", more)))
    sort = section.sort_key(min(spread.middle, 1e12))
    return section.TableCell(
        f"{before}{show(spread.middle)}", range=ranges, kind="number", sort=sort
    )


def _share(value: float | None) -> str:
    return percent(None if value is None else 100 * value, 0 if value in (0, 1) else 1)


def _moment(value: float | None) -> str:
    return "< 0.1" if value is not None and value < 0.1 else seconds_text(value)


def _p99_text(us: float | None) -> str:
    return milliseconds(None if us is None else us / 1000)


def _signed(value: float | None) -> str:
    return ABSENT if value is None else f"{value:+,.0f}".replace("-", "−")


def _outage(case: FaultCase) -> section.TableCell:
    injected_spread = case.spread("outage_injected_s")
    seen_spread = case.spread("outage_seen_s")
    before = f"{seconds_text(injected_spread.middle)} / " if injected_spread and seen_spread else ""
    return _cell(seen_spread, seconds_text, before=before)


def _first_error(case: FaultCase) -> section.TableCell:
    first_error = case.spread("first_error_s")
    runs_without_error = len(case.counted) - (first_error.runs if first_error else 0)
    return _cell(
        first_error,
        _moment,
        "none",
        more=f"none in {runs_without_error}" if runs_without_error else "",
    )


def _served_again(case: FaultCase) -> section.TableCell:
    return _cell(case.spread("served_again_s"), seconds_text, _NOT_KNOWN)


def _settled_again(case: FaultCase) -> section.TableCell:
    recovery = case.spread("recovery_s")
    if recovery is None:
        unknown_reason = case.counted[0].figures.recovery_text or ""
        return section.TableCell(_NOT_KNOWN, kind="number", sort="", hint=unknown_reason)
    return _cell(recovery, seconds_text)


def _p99(case: FaultCase) -> section.TableCell:
    before = case.spread("p99_before_us")
    worst = case.spread("p99_worst_us")
    before_text = f"{_p99_text(before.middle if before else None)} / " if before or worst else ""
    return _cell(worst, _p99_text, before=before_text)


def _over_admission(case: FaultCase) -> section.TableCell:
    over_admission = case.spread("over_admission")
    model = case.spread("over_admission_predicted")
    has_no_figure = any(run.figures.over_admission is None for run in case.counted)
    more = f"model {_signed(model.middle)}" if model else ""
    cell = _cell(over_admission, _signed, "not applicable" if has_no_figure else ABSENT, more=more)
    return structs.replace(cell, kind="number over") if over_admission else cell


def _fails(case: FaultCase) -> section.TableCell:
    """Tells how the target fails: `answers 503`, with `admitted 2 %, failed 98 %` as its range.

    Outcomes that no request met while the fault was in place are left out."""
    shares = []
    for name, outcome_word in (
        ("allowed", "admitted"),
        ("limited", "limited"),
        ("failed", "failed"),
    ):
        share = case.spread(f"{name}_share")
        if share and share.middle >= _LEAST_SHARE:
            shares.append(f"{outcome_word} {percent(100 * share.middle, 0)}".replace(" ", "\u00a0"))
    # Where requests wait, the few that ended do not show how the target fails.
    shares_text = "no answers" if case.behaviour == "waits" else ", ".join(shares)
    words, _ = _behaviour_words(case)
    return section.TableCell(words, range=shares_text, kind=f"text behaviour {case.behaviour}")


#: The name, unit and cell of each column after target and load, for a case with a run that counts.
COLUMNS: tuple[tuple[str, str, Callable[[FaultCase], section.TableCell]], ...] = (
    ("Outage", "s: injected / seen", _outage),
    (
        "Errors",
        "while it lasts",
        lambda case: _cell(case.spread("error_share"), _share, "no answers"),
    ),
    ("First error", "s after", _first_error),
    ("Served again", "s after", _served_again),
    ("Settled again", "s after", _settled_again),
    ("p99", "ms: before / worst", _p99),
    ("Lost", "requests", lambda case: _cell(case.spread("requests_lost"), count)),
    ("Over quota", "admitted", _over_admission),
    ("Fails", "", _fails),
    (
        "Memory peak",
        "MiB, servers",
        lambda case: _cell(case.spread("server_memory_peak_bytes"), mebibytes),
    ),
    (
        "Reconnections",
        "of the store",
        lambda case: _cell(case.spread("store_reconnections"), count),
    ),
)


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


def _row(case: FaultCase, varying: Sequence[LoadField]) -> section.TableRow:
    verdict = "invalid" if case.verdict == "failed" else case.verdict
    leading_cells = (
        *section.named(
            case.identity.label, *([load_text(case.identity, varying)] if varying else [])
        ),
        section.TableCell(counted_text(case.runs, case.missing, case.counted)),
        section.TableCell(case.verdict, kind=f"verdict {verdict}"),
    )
    if not case.counted:
        return section.TableRow("", leading_cells, _reason(case), kept=len(leading_cells))
    return section.TableRow(
        "", (*leading_cells, *(cell(case) for _, _, cell in COLUMNS)), kept=len(leading_cells)
    )


def _source_notes(groups: Sequence[FaultGroup]) -> tuple[str, ...]:
    """Says where a figure comes from that was not computed when the runs were measured."""
    runs = [run for group in groups for case in group.cases for run in case.counted]
    derived = [run for run in runs if run.served_again_from == "timeline"]
    if not derived:
        return ()
    runs_text = plural(len(derived), "run")
    clause = "whose result does" if len(derived) == 1 else "whose results do"
    return (f"Served again is read from the timeline of {runs_text}, {clause} not state it.",)


def _settled_notes(groups: Sequence[FaultGroup]) -> tuple[str, ...]:
    rows: dict[str, dict[str, None]] = {}
    for group in groups:
        for case in group.cases:
            for text in filter(None, (run.figures.recovery_text for run in case.counted)):
                rows.setdefault(text, {})[f"{case.identity.label}, {group.text}"] = None
    return tuple(
        f"Settled again ({text}): {_rows_text(list(row_names))}."
        for text, row_names in rows.items()
    )


def _rows_text(row_names: Sequence[str]) -> str:
    """Names up to four rows, and counts them beyond that."""
    return "; ".join(row_names) if len(row_names) <= 4 else plural(len(row_names), "row")


def _run_row(run: Run) -> section.TableRow:
    records = faults_of(run)
    notes = [f"{fault.name or fault.action}: {fault.note}" for fault in records if fault.note]
    notes += [
        f"{fault.name or fault.action} was not undone" for fault in records if not fault.undone
    ]
    name = f"{run.identity.label}, {' '.join(fault_title(fault) for fault in run.identity.faults)}"
    return section.TableRow(
        "",
        (
            section.TableCell(name),
            section.TableCell(f"{run.run}", kind="number"),
            *run_cells(run, notes),
        ),
    )


def fault_table(groups: Sequence[FaultGroup]) -> section.Table:
    varying = varying_fields([case for group in groups for case in group.cases])
    table_groups = []
    for group in groups:
        fault = group.fault
        rows = tuple(_row(case, varying) for case in group.cases)
        length = f", for {fault.length_s:g} s" if fault.length_s else ""
        hint = f"{group.text}, {fault.start_s:g} s into the window{length}"
        table_groups.append(section.TableGroup(rows, f"… {fault_words(fault)}", hint))
    columns = section.words("Target", *(["Load"] if varying else []), "Runs", "Verdict")
    columns = (*columns, *section.numbers([(name, unit) for name, unit, _ in COLUMNS], "number"))
    return section.Table(
        "fault-rows",
        "",
        columns,
        tuple(table_groups),
        CAPTION,
        sortable=False,
        kind="figures faults",
    )


def faults(analysis: Analysis) -> section.Section | None:
    groups = analysis.faults
    if not groups:
        return None
    common = shared_load_text([case for group in groups for case in group.cases])
    return section.Section(
        "faults",
        TITLE,
        text=(f"{NOTE} All of them: {common}." if common else NOTE,),
        tables=(fault_table(groups),),
        charts=("fault",),
        notes=("Every run and fault: faults.csv.", *_source_notes(groups), *_settled_notes(groups)),
        open=True,
    )


def fault_runs(analysis: Analysis) -> section.Section | None:
    runs = {run.file: run for group in analysis.faults for case in group.cases for run in case.runs}
    columns = (
        *section.words("Configuration"),
        section.Column("Run"),
        *section.words("Verdict", "Notes"),
        section.RAW,
    )
    table = section.table_of("fault-run-rows", columns, map(_run_row, runs.values()))
    title = "Runs with faults"
    answer = plural(len(runs), "run")
    return section.Section("fault-runs", title, answer, tables=(table,)) if runs else None


def fault_sentences(groups: Sequence[FaultGroup]) -> list[str]:
    """One sentence for each fault and target that has figures, for example: `When the store
    restarts, iovalkey: an outage of 1.3 s is seen, requests are served again after 1.3 s and
    settled after 3.5 s, 513 requests are lost; it answers 503.`"""
    return [
        f"When {fault_words(group.fault)}, {case.identity.label}: {text}."
        for group in groups
        for case in group.cases
        if (text := _sentence(case))
    ]


def fault_headlines(groups: Sequence[FaultGroup]) -> list[str]:
    """One sentence for each fault.

    With several targets it only tells when each is served and settled again, the soonest first."""
    headlines = []
    for group in groups:
        cases = sorted((case for case in group.cases if case.counted), key=_soonest_first)
        texts = [f"{case.identity.label} {_served_and_settled(case)}" for case in cases]
        sentence = (
            f"When {fault_words(group.fault)}, requests are served again, by the median, after: "
            f"{joined(texts)}."
        )
        headlines += [sentence] if len(texts) > 1 else fault_sentences([group])
    return headlines


def _soonest_first(case: FaultCase) -> tuple[bool, float, float, str]:
    served = case.spread("served_again_s")
    settled = case.spread("recovery_s")
    return (
        served is None,
        served.middle if served else NEVER,
        settled.middle if settled else NEVER,
        case.identity.label,
    )


def _after(spread: Spread | None) -> str:
    """The median moment after the injection: `1.3 s`, `never` or `not known`."""
    if spread is None:
        return _NOT_KNOWN
    return f"{seconds_text(spread.middle)}{'' if spread.middle == NEVER else ' s'}"


def _served_and_settled(case: FaultCase) -> str:
    """`1.3 s (settled after 3.5 s)`, without the second moment where both are the same."""
    served = _after(case.spread("served_again_s"))
    settled = _after(case.spread("recovery_s"))
    if settled == served:
        return served
    if settled == _NOT_KNOWN:
        return f"{served} (settling not known)"
    return f"{served} ({'never settled' if settled == 'never' else f'settled after {settled}'})"


def _sentence(case: FaultCase) -> str:
    outage_seen = case.spread("outage_seen_s")
    lost = case.spread("requests_lost")
    if outage_seen is None or lost is None:
        return ""
    outage = (
        f"an outage of {seconds_text(outage_seen.middle)} s is seen"
        if outage_seen.middle
        else "no outage is seen"
    )
    again_text = _again_text(case)
    over_admission = case.spread("over_admission")
    over_quota_text = (
        f", {_signed(over_admission.middle)} over the quota"
        if over_admission and over_admission.middle > 0
        else ""
    )
    _, behaviour_text = _behaviour_words(case)
    lost_text = f"{count(lost.middle)} requests are lost{over_quota_text}"
    return f"{outage}, {again_text}, {lost_text}; {behaviour_text}"


def _again_text(case: FaultCase) -> str:
    served = _after(case.spread("served_again_s"))
    settled = _after(case.spread("recovery_s"))
    texts = {
        "never": ("requests are not served again", "not settled again"),
        _NOT_KNOWN: (
            "whether requests are served again is not known",
            "whether they settle is not known",
        ),
    }
    first = texts[served][0] if served in texts else f"requests are served again after {served}"
    if settled == served:
        return first if served in texts else f"requests are served and settled again after {served}"
    second = texts[settled][1] if settled in texts else f"settled after {settled}"
    return f"{first} and {second}"
