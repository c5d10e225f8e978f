"""What happened, in order of time: campaigns, audits, and conclusions that are not those of before."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from report.base.format import joined
from report.results.audit import BROKEN, HOLDS
from report.site.audits import AuditEntry
from report.site.claims import ClaimsEntry
from report.site.entry import Entry, Family

_NONE = "no row is shown to be the best"


@dataclass(frozen=True, slots=True)
class Event:
    """`id` is its own for ever, so that a reader of the feed sees it once."""

    id: str
    at: str
    title: str
    text: str
    address: str
    """On the site."""
    change: bool
    """A conclusion is not that of before."""


def events(
    entries: Sequence[Entry], audits: Sequence[AuditEntry], claims: Sequence[ClaimsEntry]
) -> tuple[Event, ...]:
    """All of them, the newest first.

    Args:
        entries, audits: in order of time.
    """
    found = [
        *_campaigns(entries),
        *_conclusions(entries),
        *_audits(audits),
        *_broken(audits),
        *_claims(claims),
    ]
    return tuple(sorted(found, key=lambda event: (event.at, not event.change, event.id), reverse=True))


def _campaigns(entries: Sequence[Entry]) -> Iterator[Event]:
    for entry in entries:
        yield Event(
            f"campaign/{entry.address}",
            entry.record.started_at,
            f"Campaign {entry.record.name}: {entry.heading}",
            f"{entry.lead} ({entry.place})",
            entry.page,
            False,
        )


def _best(family: Family) -> str:
    shown = [
        *([f"{family.best.label} is the best by {_figure(family)}"] if family.best.shown else []),
        *([f"{family.cheapest} costs least CPU"] if family.cheapest else []),
    ]
    return joined(shown) or _NONE


def _figure(family: Family) -> str:
    return "p99" if family.open_loop else "throughput"


def _conclusions(entries: Sequence[Entry]) -> Iterator[Event]:
    """A family that was measured before, on the same machine and runtime, and concludes something else."""
    before: dict[tuple[str, ...], str] = {}
    for entry in entries:
        for number, family in enumerate(entry.families):
            key = (entry.place, *family.scope)
            now, was = _best(family), before.get(key)
            before[key] = now
            if was is not None and was != now:
                yield Event(
                    f"conclusion/{entry.address}{number}",
                    entry.record.started_at,
                    f"On {family.where}: {now}",
                    f"Before: {was}. {family.title}; {entry.place}.",
                    f"{entry.page}#answer",
                    True,
                )


def _audits(audits: Sequence[AuditEntry]) -> Iterator[Event]:
    for audit in audits:
        yield Event(
            f"audit/{audit.address}",
            audit.started_at,
            f"Audit {audit.name}",
            f"{audit.sentence} ({audit.runtime})",
            audit.page,
            False,
        )


def _broken(audits: Sequence[AuditEntry]) -> Iterator[Event]:
    """A promise that held before and is broken, or the other way round."""
    before: dict[tuple[str, str], str] = {}
    for audit in audits:
        for key, status in audit.statuses.items():
            was = before.get(key)
            if status not in (HOLDS, BROKEN):
                continue
            before[key] = status
            if was is not None and was != status:
                label, check = key
                yield Event(
                    f"check/{audit.address}{label}/{check}",
                    audit.started_at,
                    f"{label}: {check} {_STATUS[status]}",
                    f"Before, it {_STATUS[was]}.",
                    audit.page,
                    True,
                )


_STATUS = {HOLDS: "holds", BROKEN: "is broken"}


def _claims(claims: Sequence[ClaimsEntry]) -> Iterator[Event]:
    for entry in claims:
        for change in entry.changes:
            yield Event(
                f"claim/{change.claim}/{change.at}",
                change.at,
                f"Claim: {change.title}: {change.after}",
                f"Before: {change.before}.",
                f"{entry.page}#{change.claim}",
                not change.first,
            )
