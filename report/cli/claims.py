"""Published claims against every campaign that measured them: one table with all attempts.

A campaign is an attempt at a claim if it holds both rows that the claim compares. Targets, layer,
workload, traffic, load and limits decide that; the campaign's name does not."""

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from math import inf
from pathlib import Path
from typing import Any
from urllib.parse import quote

import yaml

from report.analysis import figures, machines
from report.analysis import printed_rows as printed
from report.analysis.campaign_analysis import Analysis, analyse
from report.analysis.figures import Figure
from report.analysis.printed_rows import PrintedRow, printed_rows
from report.analysis.rankings import resolutions
from report.analysis.summary import Row, Summary, attributable, sample_between
from report.analysis.texts import caps_text, ratio_text, runs_text
from report.base.contract import CONSTANTS
from report.base.errors import USAGE, ReportError, one_line
from report.base.files import write_all
from report.base.format import plural
from report.base.markdown import code, prose, table
from report.base.terminal import run_program
from report.results.archives import found_campaigns
from report.results.generated.records import PrintedResult
from report.results.load import load_campaign
from report.results.model import MANIFEST, STORE_LAYER, Run
from report.statistics.conclusions import Status, conclusion_of
from report.statistics.decision import DEFAULT_FLOOR, Comparison, Level, compare_samples
from report.statistics.ratio import ALPHA, RatioInterval

CONFIRMED, REFUTED, UNDECIDED = "confirmed", "refuted", "not decided"
_NOTHING_REFUTES = "no range that refutes was set before the data"
_DECIDED: tuple[Status, ...] = ("better", "worse", "no difference")

ABOUT = """A row is a comparison in one campaign; a comparison that no campaign measured has a row, too. The
ratio is the first target by the second. Its interval covers all comparisons of the claim in this campaign
together at 95 %. A claim is confirmed where the interval lies within its range, and refuted where it lies
beyond a wider range that was set before the data. Between the two, and where no such range was set, it is not
decided. Each row holds on the machine that it names. What each publication leaves open stands below the
table."""
WITHDRAWN = """Every count of "refuted" that was taken from this table is withdrawn until its rows are judged
anew. The criteria were narrowed after the data: the wider ranges and the caveats were removed, so that rows
between the two ranges read "refuted". Both are back as they were on 2026-11-23. What follows is kept as a
record."""
_HEAD = f"""<!-- Written by `python3 report claims` from claims/*.yaml and the campaigns in results/. -->

# Published claims, and every attempt to measure them

**{WITHDRAWN}**

{ABOUT}"""
#: Of a claim: what is printed below the table, in words.
_CAVEATS = {
    "refuted_by": "What would refute it",
    "measured_there": "Measured there",
    "not_said": "Not said there",
    "notes": "Note",
}
COLUMNS = (
    *("Claim", "Source", "Compared", "Expected", "Ratio", "Verdict", "Date", "Load, duration"),
    *("Order", "Caps", "Machine", "Versions", "Campaign"),
)

#: What reading a file raises that is not what it should be.
_NOT_CLAIMS = (
    OSError,
    yaml.YAMLError,
    LookupError,
    TypeError,
    ValueError,
    AttributeError,
    RecursionError,
)

Document = Mapping[str, Any]
"""Of YAML or JSON: a claim, one of its comparisons (`expects`), a row that it compares, a
configuration."""

#: By its name: the figure of a run, and the same of one whose figures a foreign program printed.
_METRICS: Mapping[str, tuple[Figure, Callable[[PrintedResult], float | None]]] = {
    "throughput": (figures.throughput, printed.rate),
    "p50": (figures.percentile("p50"), lambda run: run.latency.p50),
    "p99": (figures.percentile("p99"), lambda run: run.latency.p99),
    "cpu": (figures.consumer_cpu, lambda _: None),
    "store_cpu": (figures.store_cpu, printed.store_cpu),
    "service_cpu": (figures.service_cpu, printed.service_cpu),
    "store_memory": (figures.store_memory, lambda _: None),
    "bytes_per_key": (figures.bytes_per_key("store"), printed.bytes_per_key),
}

#: What a row says: where a configuration has it, and the setting of a campaign file that says it
#: for all.
_MEMBERS: Mapping[str, tuple[Callable[[Document], Any], str]] = {
    "target": (lambda each: _target(each["target"]["text"]), ""),
    "layer": (lambda each: each["layer"], "layer"),
    "workload": (lambda each: each["workload"]["id"], "workload"),
    "payload_bytes": (lambda each: each["workload"].get("payload_bytes"), "payload-bytes"),
    "traffic": (lambda each: each["traffic"], "traffic"),
    "connections": (lambda each: each["load"].get("connections"), "concurrency"),
    "rate": (lambda each: each["load"].get("rate_per_second"), "rate"),
    "points": (lambda each: each["limits"]["points"], "points"),
    "window": (lambda each: each["limits"]["window_s"], "window"),
    "cost": (lambda each: each["limits"].get("cost", 1), "cost"),
    "requests": (lambda each: each["extent"].get("requests"), ""),
}
_USUAL = {"points": 1_000_000_000, "window": 60, "cost": 1}


def _target(text: str) -> str:
    """The full form: `ioredis@redis+b+a` → `ioredis@redis:standalone+a+b`."""
    head, *options = text.split("+")
    topology = ":standalone" if "@" in head and ":" not in head else ""
    return "+".join([head + topology, *sorted(options)])


def read_claims(folder: Path) -> list[Document]:
    """The claims of all files, by id, each with its `file`, and with all that tells its rows.

    Raises ReportError naming the file and what is wrong in it."""
    claims = []
    for path in sorted(folder.glob("*.yaml")):
        try:
            campaign = yaml.safe_load(path.read_text("utf-8"))
            for claim in campaign["claims"]:
                expects = [_expectation(each, campaign) for each in claim.get("expects", [])]
                claims.append({**claim, "file": path.name, "expects": expects})
        except _NOT_CLAIMS as error:
            reason = f"{error} is missing" if isinstance(error, KeyError) else error
            raise ReportError(f"{one_line(path.name)}: {one_line(reason)}", USAGE) from error
    if not claims:
        raise ReportError(f"{one_line(folder)} holds no claims", USAGE)
    return sorted(claims, key=lambda claim: str(claim["id"]))


def _expectation(said: Document, campaign: Document) -> Document:
    low, high = said.get("ratio", (None, None))
    if said["metric"] not in _METRICS:
        raise ValueError(f"there is no metric {said['metric']}: have {', '.join(_METRICS)}")
    figure, _ = _METRICS[said["metric"]]
    words = [conclusion_of(status, higher_is_better=figure.higher_is_better) for status in _DECIDED]
    if said.get("is", "") not in ("", *words) or ("is" in said) == (
        low is not None or high is not None
    ):
        raise ValueError(f"expects needs `is` ({', '.join(words)}) or `ratio: [low, high]`")
    holds = _bounds((low, high))
    refutes = _bounds(said["refuted"]) if "refuted" in said else None
    if refutes and ("is" in said or refutes[0] > holds[0] or refutes[1] < holds[1]):
        raise ValueError("`refuted: [low, high]` takes a `ratio` that lies within it")
    against = said["against"]
    is_figure = isinstance(against, Mapping) and "published" in against
    return {
        **said,
        "named": (said["of"], against),
        "of": _row_of(said["of"], campaign),
        "against": against if is_figure else _row_of(against, campaign),
        "range": holds,
        "refutes": refutes,
    }


def _bounds(said: Sequence[float | None]) -> tuple[float, float]:
    low, high = said
    return (low or 0, inf if high is None else high)


def _row_of(row: str | Document, campaign: Document) -> Document:
    named = {"target": row} if isinstance(row, str) else row
    layer = campaign.get("layer", "server")
    # Without a rate a closed loop is meant.
    wanted: dict[str, Any] = {
        "layer": layer,
        "rate": None,
        **({} if layer == STORE_LAYER else _USUAL),
    }
    if layer == "server":
        wanted["workload"] = "light"
    for name, (_, setting) in _MEMBERS.items():
        value = named.get(name, campaign.get(setting))
        if isinstance(value, list):
            raise ValueError(f"say which {name} of {value} is meant")
        if value is not None:
            wanted[name] = value
    return {**wanted, "target": _target(named["target"])}


def _row(analysis: Analysis, wanted: Document) -> Row | None:
    plan = (analysis.campaign.manifest or {"plan": {"configurations": []}})["plan"]
    hashes = [
        entry["hash"]
        for entry in plan["configurations"]
        for each in [entry["configuration"]]
        if not each.get("faults") and each.get("servers", 1) <= 1 and each.get("generators", 1) <= 1
        if all(_MEMBERS[name][0](each) == value for name, value in wanted.items())
    ]
    rows: list[Row] = [
        each for each in analysis.summaries if each.identity.configuration_hash in hashes
    ]
    rows += printed_rows(analysis.campaign, lambda each: each.configuration_hash in hashes)
    return rows[0] if rows else None


def attempts(claim: Document, analysis: Analysis) -> Iterator[tuple[Document, list[str]]]:
    """The comparisons that a campaign measured, each with its cells from the ratio to the
    versions."""
    found: list[tuple[Document, list[Row]]] = []
    for each in claim["expects"]:
        sides = [
            _row(analysis, side)
            for side in (each["of"], each["against"])
            if "published" not in side
        ]
        if None not in sides:
            found.append((each, [side for side in sides if side]))
    for each, (of, *base) in found:
        judge = partial(_compared, base=base[0], family=len(found)) if base else _against_figure
        yield each, [*judge(each, analysis, of), *_conditions(analysis, [of, *base])]


def _conditions(analysis: Analysis, rows: Sequence[Row]) -> list[str]:
    manifest: Document = analysis.campaign.manifest or {}
    machine, runtime, plan = manifest["machine"], manifest["runtime"], manifest["plan"]
    caps = {each["hash"]: each["configuration"].get("caps", {}) for each in plan["configurations"]}
    runs = [run for row in rows for run in row.runs]
    suspect = sum(run.verdict == "suspect" for run in runs)
    row = rows[0].identity
    load = (
        f"{row.rate_per_second:g}/s"
        if row.rate_per_second
        else plural(row.connections, "connection")
    )
    parts = [
        row.layer,
        row.workload,
        row.traffic,
        load,
        row.extent_text,
        plural(len(rows[0].runs), "run"),
    ]
    host = machines.key_texts(machine).values()
    return [
        manifest["started_at"][:10],
        ", ".join([*parts, *([f"{suspect} of {len(runs)} suspect"] if suspect else [])]),
        plan["order"],
        caps_text(caps[row.configuration_hash]) if runtime["caps_applied"] else "none",
        ", ".join([*host, runtime["id"]]),
        "; ".join(dict.fromkeys(map(_versions, rows))),
    ]


def _versions(row: Row) -> str:
    found = {part: version for run in row.runs for part, version in run.versions.items()}
    of = row.identity
    names = {"client": of.client, "limiter": of.limiter, "store": of.store, "node": "Node"}
    return ", ".join(f"{name} {found[part]}" for part, name in names.items() if part in found)


def _compared(
    said: Document, analysis: Analysis, of: Row, base: Row, family: int
) -> tuple[str, str]:
    figure, printed = _METRICS[said["metric"]]
    if isinstance(of, Summary) and isinstance(base, Summary):
        if said["metric"] == "bytes_per_key":
            sources = map(figures.bytes_per_key, figures.SOURCES)
            figure = next(
                (each for each in sources if of.sample(each) and base.sample(each)), figure
            )
        sample = sample_between(of, base, figure)
    elif isinstance(of, PrintedRow) and isinstance(base, PrintedRow):
        sample = of.sample(base, printed)
    else:
        return "", f"{UNDECIDED}: a foreign program measured one side alone"
    level = Level(interval=ALPHA / family)
    (found,) = compare_samples([sample], DEFAULT_FLOOR, figure.higher_is_better, level)
    believed = attributable(found, base, of)
    reason = _unjudged(figure, [*of.runs, *base.runs])
    if said["metric"] == "cpu" and not of.identity.open_loop:
        reason = "in a closed loop CPU per request follows from the throughput"
    elif _told_apart(analysis, (of, base), figure):
        reason = reason or "the copy of the reference differs from its original"
    if believed.blocked or found.interval is None:
        reason = reason or believed.reason or "there is no ratio"
    text = ratio_text(found.ratio, found.interval)
    if reason or found.interval is None:
        return text, f"{UNDECIDED}: {reason}"
    return text, judged(said, found, found.interval)


def _unjudged(figure: Figure, runs: Sequence[Run]) -> str:
    measured = [run.measured for run in runs if run.measured and figure.percentile]
    schedules = [each.record.schedule for each in measured if each.record.schedule]
    few = sum(figure.percentile in each.unsupported for each in measured)
    late = sum(figure.percentile in each.late_percentiles for each in schedules)
    if few:
        return f"too few samples for {figure.percentile} in {few} of {plural(len(runs), 'run')}"
    return f"{figure.percentile} is late in {late} of {plural(len(runs), 'run')}" if late else ""


def _told_apart(analysis: Analysis, rows: Sequence[Row], figure: Figure) -> bool:
    """The copy in a ranking with one of the rows was told apart; of all rankings where these have
    none."""
    rankings = [each for cell in analysis.cells for each in cell.rankings if each.resolution]
    keys = {row.identity.key for row in rows}
    near = [each for each in rankings if keys & {row.identity.key for row in each.summaries}]
    found = resolutions(analysis.summaries, figure)
    references = [each.reference.id for each in near or rankings if each.reference]
    return any(found[each].told_apart for each in references if each in found)


def _against_figure(said: Document, analysis: Analysis, row: Row) -> tuple[str, str]:
    """Bytes per key against a published figure, by the slope and its interval."""
    id_ = row.id if isinstance(row, Summary) else None
    memory = next((each for each in analysis.memory if id_ in each.summary_ids), None)
    line = memory.slopes[0].line if memory and memory.slopes else None
    if line is None or line.low is None or line.high is None:
        return "", f"{UNDECIDED}: it takes three runs with two numbers of fresh keys"
    published = said["against"]["published"]
    interval = RatioInterval(line.low / published, line.high / published, 1 - ALPHA)
    return ratio_text(line.slope / published, interval), _in_range(said, interval)


def judged(said: Document, found: Comparison, interval: RatioInterval) -> str:
    if "is" not in said:
        return _in_range(said, interval)
    if not found.decided:
        return f"{UNDECIDED}: {runs_text(found)}"
    if found.conclusion == said["is"]:
        return CONFIRMED
    return f"{UNDECIDED}: {found.conclusion}, but {_NOTHING_REFUTES}"


def _in_range(said: Document, interval: RatioInterval) -> str:
    low, high = said["range"]
    if interval.low > low and interval.high < high:
        return CONFIRMED
    if said["refutes"] is None:
        beyond = interval.high < low or interval.low > high
        reason = f"the interval lies beyond the range, but {_NOTHING_REFUTES}" if beyond else ""
        return f"{UNDECIDED}: {reason or 'the interval is neither within the range nor beyond it'}"
    lowest, highest = said["refutes"]
    if interval.high < lowest or interval.low > highest:
        return REFUTED
    return f"{UNDECIDED}: the interval is neither within the range nor beyond the one that refutes"


def _expected_text(said: Document) -> str:
    low, high = said["range"]
    ends = (
        f"at least {low:g}"
        if high == inf
        else f"{low:g} to {high:g}"
        if low
        else f"at most {high:g}"
    )
    lowest, highest = said["refutes"] or (0, inf)
    bounds = [
        *([f"below {lowest:g}"] if lowest else []),
        *([f"above {highest:g}"] if highest < inf else []),
    ]
    refuted = f", refuted {' or '.join(bounds)}" if bounds else f", {_NOTHING_REFUTES}"
    published = f", published {said['published']:g}" if "published" in said else ""
    return f"{code(said['metric'])} {said.get('is', ends)}{refuted}{published}"


def _compared_text(said: Document) -> str:
    rows = [
        row if isinstance(row, str) else " ".join(map(str, row.values())) for row in said["named"]
    ]
    other = said.get("other_conditions")
    return " by ".join(map(code, rows)) + (f"; other conditions: {prose(other)}" if other else "")


Attempt = tuple[str, Document, Sequence[str]]
"""The campaign, the comparison (one of `expects`) and its cells."""


def attempts_in(claim: Document, place: str, analysis: Analysis) -> list[Attempt]:
    return [(place, *each) for each in attempts(claim, analysis)]


def claim_rows(claim: Document, made: Sequence[Attempt]) -> Iterator[list[str]]:
    """The rows of a claim, of `COLUMNS` in Markdown."""
    address, source = claim["says"].get("address"), prose(claim["says"]["source"])
    link = f"[{source}]({quote(address, safe=':/#?=&%')})" if address else source
    head = [f"{code(claim['id'])}: {prose(claim['says']['sentence'])}", link]
    needs = claim.get("needs", f"ratelimit-bench run --config claims/{claim['file']}")
    missing = ["", f"{UNDECIDED}: it needs {prose(needs, 1000)}", *[""] * (len(COLUMNS) - 6)]
    for said in claim["expects"]:
        own = [(place, cells) for place, of, cells in made if of is said]
        shown = [*head, _compared_text(said), _expected_text(said)]
        yield from ([*shown, *map(prose, cells), code(place)] for place, cells in own)
        if not own:
            yield [*shown, *missing]
    if "needs" in claim and all("other_conditions" in said for said in claim["expects"]):
        yield [*head, "as published", "", *missing]


def caveats_of(claim: Document) -> list[str]:
    """How the publication measured, what it does not say, and what would refute it, a text each."""
    texts = ((title, _caveat_texts(claim[key])) for key, title in _CAVEATS.items() if key in claim)
    return [f"{title}: {text}" for title, of_title in texts for text in of_title]


def _caveat_section(claims: Sequence[Document]) -> Iterator[str]:
    yield from ("", "## What the publications leave open")
    for claim in claims:
        if texts := caveats_of(claim):
            yield from ("", f"### {code(claim['id'])}", "", *(f"- {prose(text)}" for text in texts))


def _caveat_texts(said: str | Sequence[str] | Mapping[str, str]) -> Sequence[str]:
    if isinstance(said, Mapping):
        return [f"{name}: {text}" for name, text in said.items()]
    return [said] if isinstance(said, str) else said


def _run(options: argparse.Namespace) -> int:
    results = Path(options.results).resolve()
    claims, by_start = read_claims(Path(options.claims)), {}
    with found_campaigns(results, MANIFEST) as found:
        for place, folder, wrong in found:
            try:
                if wrong:
                    raise ReportError(wrong, USAGE)
                analysis = analyse(load_campaign(folder, keep_going=True, series=False))
                # A campaign that is there twice is one attempt.
                by_start[(analysis.campaign.manifest or {}).get("started_at", "")] = (
                    str(place),
                    analysis,
                )
            except ReportError as error:
                print(f"claims: left out: {place}: {error.lines[0]}", file=sys.stderr)
    campaigns = [by_start[start] for start in sorted(by_start)]
    rows: list[list[str]] = []
    for claim in claims:
        made = [attempt for campaign in campaigns for attempt in attempts_in(claim, *campaign)]
        rows += claim_rows(claim, made)
    lines = [_HEAD, "", *table(COLUMNS, rows, len(COLUMNS)), *_caveat_section(claims), ""]
    write_all(results, {"claims.md": "\n".join(lines)})
    print(f"{plural(len(rows), 'row')} saved in {one_line(results / 'claims.md', 4096)}")
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="report claims", description=__doc__, allow_abbrev=False)
    parser.add_argument(
        "--claims", metavar="DIR", default="claims", help="folder of the claims (./claims)"
    )
    parser.add_argument(
        "--results",
        metavar="DIR",
        default=CONSTANTS["results_root"],
        help="of campaigns (./results)",
    )
    return run_program("claims", lambda: _run(parser.parse_args(arguments)))
