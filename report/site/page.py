"""index.html of the site: the answers, then what they are from."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from report.base.format import joined, plural
from report.base.paths import STATIC
from report.campaigns.campaign_record import CampaignRecord
from report.campaigns.pages import DRIFT, ListedCampaign
from report.html.template import render_template
from report.results.model import LAYERS
from report.sections.spread_text import (
    FEW_SAMPLES,
    FEW_SAMPLES_MARK,
    LATE,
    LATE_MARK,
    UNIDENTIFIED,
    UNIDENTIFIED_MARK,
    UNTYPICAL,
    UNTYPICAL_MARK,
)
from report.site.answers import Answer, answers
from report.site.audits import AuditEntry
from report.site.changes import Event
from report.site.claims import ClaimsEntry
from report.site.entry import FAULT_FIGURES, FILTERS, ONLY_ONE, Entry, Values
from report.site.feed import FEED

PAGE = "index.html"

Row = TypeVar("Row")

#: What the state of the filters counts.
_ROW_NAME = "rows"
#: Changes that the page lists; the feed has more.
_CHANGES = 20

_MARKS = " ".join(
    f"{mark} {meaning}."
    for mark, meaning in (
        (FEW_SAMPLES_MARK, FEW_SAMPLES),
        (UNTYPICAL_MARK, UNTYPICAL),
        (UNIDENTIFIED_MARK, UNIDENTIFIED),
        (LATE_MARK, LATE),
    )
)

#: Commands that measure what a section lacks.
MISSING = {
    "limiter": "ratelimit-bench run --clients all --layer limiter --duration-mode fixed30 --runs 10",
    "store": "ratelimit-bench run --layer store --duration-mode fixed30 --runs 10",
    "server": "ratelimit-bench run --clients all --duration-mode fixed30 --runs 10",
    "claims": "ratelimit-bench claims run",
    "audits": "ratelimit-bench audit --clients all",
    "faults": "ratelimit-bench run --clients standalone --rate 500 --fault store-restart,store-pause",
    "memory": "ratelimit-bench memory --clients all",
}


@dataclass(slots=True)
class _Rows:
    """Gives each row of the page its id, and keeps by what it is filtered."""

    values: dict[str, Values] = field(default_factory=dict)

    def add(self, values: Values) -> str:
        id_ = f"r{len(self.values) + 1}"
        self.values[id_] = values
        return id_

    def numbered(self, rows: Iterable[tuple[Values, Row]]) -> list[tuple[str, Row]]:
        return [(self.add(values), row) for values, row in rows]


@dataclass(frozen=True, slots=True)
class SiteContent:
    """All that the site shows; campaigns and audits in order of time."""

    entries: tuple[Entry, ...]
    audits: tuple[AuditEntry, ...]
    claims: tuple[ClaimsEntry, ...]
    events: tuple[Event, ...]
    left_out: tuple[str, ...]
    side_by_side: bool
    """compare.html and trends.html are there."""


def _filters(rows: Iterable[Values]) -> dict[str, list[str]]:
    """Those with several values."""
    found: dict[str, set[str]] = {name: set() for name in FILTERS}
    for values in rows:
        for name in FILTERS:
            value = values[name]
            found[name] |= {value} if isinstance(value, str) else set(value)
    kept = {name: sorted(values - {""}) for name, values in found.items()}
    return {name: values for name, values in kept.items() if len(values) > 1}


def _layers(entries: Sequence[Entry], rows: _Rows) -> list[tuple[str, list[tuple[str, Entry, object]]]]:
    """By layer, the newest campaign first: what each kind of decider showed, or sentences of stores."""
    found = []
    for layer in LAYERS:
        lines: list[tuple[str, Entry, object]] = []
        for entry in entries:
            lines += [
                (rows.add(family.values), entry, family) for family in entry.families if family.layer == layer
            ]
            if layer == "store":
                values = {**entry.values, "layer": layer}
                lines += [(rows.add(values), entry, sentence) for sentence in entry.operations]
        found.append((layer, lines))
    return found


def _period(entries: Sequence[Entry]) -> str:
    days = sorted({entry.day for entry in entries})
    return days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"


def _lead(content: SiteContent) -> str:
    parts = [
        plural(len(content.entries), "campaign"),
        *([plural(len(content.audits), "audit")] if content.audits else []),
        *(plural(len(each.rows), "published claim") for each in content.claims),
    ]
    places = list(dict.fromkeys(entry.place for entry in content.entries))
    when = f", measured {_period(content.entries)}" if content.entries else ""
    where = f", on {'; '.join(places)}" if 0 < len(places) <= 2 else f", in {len(places)} places"
    return f"{joined(parts)}{when}{where}. {DRIFT_SHORT}"


DRIFT_SHORT = "Figures of different campaigns are never compared: each answer is of one campaign."


def _listed(entries: Sequence[Entry], rows: _Rows, there: Collection[str]) -> list[ListedCampaign]:
    return [
        ListedCampaign(
            entry.record,
            dict(entry.record.environment),
            {name: address for name, address in _files(entry).items() if address in there},
            rows.add(entry.values),
            entry.lead,
        )
        for entry in entries
    ]


def _files(entry: Entry) -> dict[str, str]:
    """Of its report on the site."""
    names = ("index.html", "summary.csv", "runs.csv")
    return {name: f"{entry.address}report/{name}" for name in names}


def _silent(entries: Sequence[Entry]) -> list[Entry]:
    """Campaigns that rank nothing because their host was not steady, or none of their runs counts."""
    return [entry for entry in entries if entry.unsteady or not _counts(entry.record)]


def _counts(record: CampaignRecord) -> bool:
    return record.valid_runs > 0 or not record.rows


def site_page(content: SiteContent, written: Sequence[str]) -> str:
    """The page.

    Args:
        written: addresses of the files of reports that are there, to link no other.
    Raises:
        ReportError: exit code 3 when a script of the page is not installed.
    """
    rows = _Rows()
    there = frozenset(written)
    newest = tuple(reversed(content.entries))
    audits = tuple(reversed(content.audits))
    found: tuple[Answer, ...] = answers(content.entries, content.audits)
    shown = [(answer, rows.numbered((row.values, row) for row in answer.rows)) for answer in found]
    layers = _layers(newest, rows)
    targets = [(rows.add(row.values), entry, row) for entry in newest for row in entry.rows]
    claims = [(each, rows.numbered((each.values, row) for row in each.rows)) for each in content.claims]
    audited = [
        (audit, rows.numbered((target.values, target) for target in audit.targets)) for audit in audits
    ]
    faults = [(rows.add(row.values), entry, row) for entry in newest for row in entry.faults]
    memory = [(rows.add(row.values), entry, row) for entry in newest for row in entry.memory]
    listed = _listed(newest, rows, there)
    return render_template(
        "site.html.j2",
        styles=(STATIC / "report.css", STATIC / "claims.css", STATIC / "site.css"),
        scripts=(STATIC / "filters.js",),
        data={"rows": rows.values},
        lead=_lead(content),
        answers=shown,
        silent=_silent(newest),
        layers=layers,
        targets=targets,
        claims=claims,
        audits=audited,
        faults=faults,
        fault_figures=FAULT_FIGURES,
        memory=memory,
        only_one=ONLY_ONE,
        listed=listed,
        changes=[event for event in content.events if event.change][:_CHANGES],
        left_out=content.left_out,
        side_by_side=content.side_by_side,
        drift=DRIFT,
        missing=MISSING,
        marks_note=_MARKS,
        several_places=len({entry.place for entry in content.entries}) > 1,
        feed=FEED,
        filters=_filters(rows.values.values()),
        chips=(),
        row_count=len(rows.values),
        row_name=_ROW_NAME,
        empty=(),
    )
