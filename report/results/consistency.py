"""Checks that the runs of one campaign fit together."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, TypeVar, cast

from msgspec import structs

from report.base.errors import FieldError, one_line
from report.results.model import MANIFEST, Identity, Planned, Run
from report.results.records import MeasuredResult, PrintedResult
from report.results.validate import Document

#: Members that most runs of a campaign have alike.
_SHARED = ("campaign", "notes", "runtime", "versions", "verdict")

Value = TypeVar("Value")


class Consistency:
    """Admits runs one after the other: each once, of one campaign, each configuration under one hash and
    on one runtime. What equal runs say alike is kept once, so that ten thousand of them fit into memory."""

    def __init__(self, manifest: Document | None, planned: Iterable[Planned]) -> None:
        self._campaign = manifest["campaign"] if manifest else None
        self._runtimes: dict[str, tuple[str, str]] = {}
        self._seen: dict[tuple[str, int], str] = {}
        self._identities: dict[str, tuple[Identity, str]] = {
            entry.identity.key: (entry.identity, MANIFEST) for entry in planned
        }
        self._shared: dict[str, Any] = {}

    def check(self, run: Run) -> Run:
        """The run, to be kept."""
        if self._campaign is not None and run.record.campaign not in (None, self._campaign):
            raise FieldError(
                "$.campaign",
                f"is {one_line(run.record.campaign, 60)}, but {MANIFEST} says {one_line(self._campaign, 60)}",
            )
        self._check_runtime(run)
        identity, source = self._identities.get(run.identity.key, (run.identity, run.file))
        if identity != run.identity:
            raise FieldError("$.configuration", f"differs from that of the same hash in {one_line(source)}")
        first = self._seen.setdefault((run.identity.key, run.run), run.file)
        if first != run.file:
            raise FieldError("$.run", f"{run.run} of this configuration is also in {one_line(first)}")
        self._identities.setdefault(run.identity.key, (run.identity, run.file))
        return self._slim(run, identity)

    def _check_runtime(self, run: Run) -> None:
        """Figures from containers and from local processes never make one row."""
        if run.record.runtime is None:
            return
        found = run.record.runtime.id
        runtime, source = self._runtimes.setdefault(run.identity.key, (found, run.file))
        if found != runtime:
            raise FieldError(
                "$.runtime.id",
                f"is {one_line(found, 40)}, but {one_line(source)} of the same configuration says "
                f"{one_line(runtime, 40)}: report them as two campaigns",
            )

    def _slim(self, run: Run, identity: Identity) -> Run:
        shared = {
            name: self._shared_value(getattr(run.record, name))
            for name in _SHARED
            if hasattr(run.record, name)
        }
        record, measured = structs.replace(run.record, **shared), run.measured
        if measured:
            settings = self._shared_value(measured.client_settings)
            measured = replace(measured, record=cast(MeasuredResult, record), client_settings=settings)
        return replace(
            run,
            identity=identity,
            record=record,
            measured=measured,
            printed=record if isinstance(record, PrintedResult) else None,
            versions=self._shared_value(run.versions),
        )

    def _shared_value(self, value: Value) -> Value:
        """The first value that was equal to this one."""
        kept: Value = self._shared.setdefault(repr(value), value)
        return kept
