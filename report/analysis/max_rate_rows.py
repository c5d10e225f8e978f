"""The highest rate that each target keeps: the trials of a search and what they show (M30)."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from report.analysis.cells import subject
from report.analysis.summary import Summary
from report.analysis.texts import LOAD, load_text, varying_fields
from report.base.contract import CONSTANTS
from report.base.format import plural
from report.results.generated.records import LimitedBy
from report.results.model import Campaign, Identity
from report.statistics.max_rate_estimate import RateEstimate, estimate_max_rate

_MIN_TRIALS: int = CONSTANTS["min_trials_per_rate"]


class RateTrial(Struct, frozen=True, kw_only=True):
    rate_per_second: float
    bracket: bool
    """It brackets the bound; the estimate is of the others."""
    status: str
    """`kept`, `missed`, or `void`: its measurement says nothing."""
    reason: str
    """Why it was missed or is void."""
    file: str
    limit: LimitedBy | None
    """The resource that limited the run; None where it is not on record."""


class MaxRate(Struct, frozen=True, kw_only=True):
    identity: Identity
    """At one of the rates."""
    name: str
    """The label, with what tells it from others of the target."""
    ids: tuple[str, ...]
    objectives: tuple[str, ...]
    trials: tuple[RateTrial, ...]
    """In the order in which they were made."""
    estimate: RateEstimate | None
    """None before there are enough trials near the bound."""
    censored: bool
    """The load generator limited most of the misses: the target may keep more."""
    ended: str | None
    """`done` or `budget`; None: it goes on, or was interrupted."""

    @property
    def near(self) -> tuple[RateTrial, ...]:
        return tuple(trial for trial in self.trials if not trial.bracket and trial.status != "void")

    @property
    def bracketed(self) -> tuple[float | None, float | None]:
        counted = [trial for trial in self.trials if trial.status != "void"]
        kept = max(
            (trial.rate_per_second for trial in counted if trial.status == "kept"), default=None
        )
        missed = [trial.rate_per_second for trial in counted if trial.status == "missed"]
        return kept, min((rate for rate in missed if kept is None or rate > kept), default=None)

    @property
    def limit(self) -> LimitedBy | None:
        """What limited the lowest rate that was missed."""
        missed = [trial for trial in (self.near or self.trials) if trial.status == "missed"]
        return min(missed, key=lambda trial: trial.rate_per_second).limit if missed else None


def _trials(
    campaign: Campaign, manifest: Mapping[str, Any]
) -> dict[str, list[tuple[Identity, RateTrial]]]:
    planned = {entry["file"]: entry for entry in manifest["plan"]["runs"]}
    identities = {entry.identity.configuration_hash: entry.identity for entry in campaign.planned}
    limits = {run.file: run.measured.record.limited_by for run in campaign.runs if run.measured}
    trials_by_subject: dict[str, list[tuple[Identity, RateTrial]]] = {}
    for made in manifest["max_rate"]["trials"]:
        file = made["file"]
        entry = planned.get(file)
        identity = identities.get(entry["configuration_hash"]) if entry else None
        if entry is None or identity is None:
            continue
        trial = RateTrial(
            rate_per_second=identity.rate_per_second or 0,
            bracket=entry.get("bracket", False),
            status=made["status"],
            reason=made["reason"],
            file=file,
            limit=limits.get(file),
        )
        trials_by_subject.setdefault(subject(identity, rate_per_second=None), []).append(
            (identity, trial)
        )
    return trials_by_subject


def _is_censored(trials: Sequence[RateTrial]) -> bool:
    """Where the load generator itself ran out, a miss says nothing about the target."""
    missed = [trial for trial in trials if trial.status == "missed"]
    by_generator = [
        trial for trial in missed if trial.limit and trial.limit.resource == "generator"
    ]
    return 2 * len(by_generator) >= len(missed) > 0


def _names(identities: Sequence[Identity], summaries: Sequence[Summary]) -> list[str]:
    labels = [identity.label for identity in identities]
    # The rate is what is searched; of the load the connections alone tell subjects apart.
    parts = [part for part in varying_fields(summaries) if part is not LOAD]
    several = len({identity.connections for identity in identities}) > 1

    def name(identity: Identity) -> str:
        connections = f"up to {plural(identity.connections, 'connection')}" if several else ""
        return ", ".join(filter(None, (identity.label, load_text(identity, parts), connections)))

    return [
        name(identity) if labels.count(label) > 1 else label
        for label, identity in zip(labels, identities, strict=True)
    ]


def max_rates(campaign: Campaign, summaries: Sequence[Summary]) -> Iterator[MaxRate]:
    manifest = campaign.manifest
    if manifest is None or "max_rate" not in manifest or "max_rate" not in manifest["plan"]:
        return
    by_subject = _trials(campaign, manifest)
    names = _names([members[0][0] for members in by_subject.values()], summaries)
    for name, (key, members) in zip(names, by_subject.items(), strict=True):
        trials = tuple(trial for _, trial in members)
        near = [trial for trial in trials if not trial.bracket and trial.status != "void"]
        kept = [(trial.rate_per_second, trial.status == "kept") for trial in near]
        rows = (row for row in summaries if subject(row.identity, rate_per_second=None) == key)
        yield MaxRate(
            identity=members[0][0],
            name=name,
            ids=tuple(row.id for row in rows),
            objectives=tuple(manifest["plan"]["max_rate"]["objectives"]),
            trials=trials,
            estimate=estimate_max_rate(kept) if len(near) >= _MIN_TRIALS else None,
            censored=_is_censored(near or trials),
            ended=manifest["max_rate"].get("ended", {}).get("why"),
        )
