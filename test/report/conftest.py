"""Helpers that tests share. They summarize results, and build reports in this process as the
command does."""

import csv
import io
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest

from builder import Document, configuration, result
from campaign_writer import manifest, write_campaign
from compared_campaigns import (
    CLOSED,
    JITTER,
    REFERENCE,
    REFERENCE_JITTER,
    TURNS,
    Call,
    CompletedCommand,
    Put,
)
from report.analysis.campaign_analysis import Analysis, analyse
from report.analysis.rankings import Ranking
from report.analysis.summary import Summary
from report.cli import compare_command
from report.cli.generate_command import main
from report.results.convert import run_of
from report.results.model import Campaign
from report.results.plans import rankings_of
from report.results.validate import validate_result


def ranks_of(ranking: Ranking) -> list[int | None]:
    """The rank of each row, which is one more than the number of rows that were shown to be better.

    None unless every comparison of the row is decided, and some comparison of the ranking shows a
    difference."""
    told_apart = ranking.resolution is not None and ranking.resolution.told_apart
    any_shown = any(pair.comparison.shown for pair in ranking.order)

    def rank(row: Summary) -> int | None:
        pairs = [pair for pair in ranking.order if pair.has(row)]
        decided = pairs and all(pair.comparison.decided for pair in pairs)
        if told_apart or not any_shown or not decided:
            return None
        return 1 + sum(pair.better not in (None, row) for pair in pairs)

    return [rank(row) for row in ranking.summaries]


@dataclass(frozen=True)
class Outcome:
    """How one call of the command ended."""

    code: int
    out: str
    err: str
    folder: Path

    @property
    def page(self) -> str:
        return (self.folder / "report" / "index.html").read_text(encoding="utf-8")

    def text(self, name: str) -> str:
        """The unchanged content of a file of the report."""
        return (self.folder / "report" / name).read_bytes().decode("utf-8")

    def rows(self, name: str = "summary.csv") -> list[dict[str, str]]:
        return list(csv.DictReader(io.StringIO(self.text(name))))

    @property
    def summary(self) -> Any:
        return json.loads(self.text("summary.json"))


Build = Callable[..., Outcome]


@pytest.fixture(autouse=True)
def state_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keeps tests from reading or writing the state folder of the person who runs them."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))


def analysis_of_results(*results: Document) -> Analysis:
    """The analysis of results without a plan."""
    runs = tuple(
        run_of(validate_result(document), f"{n}.json") for n, document in enumerate(results)
    )
    counted = tuple(run for run in runs if not run.record.diagnosis)
    diagnoses = tuple(run for run in runs if run.record.diagnosis)
    rankings = rankings_of(None, (), runs)
    return analyse(Campaign(name="test", rankings=rankings, counted=counted, beside=diagnoses))


def summaries_of(*results: Document) -> tuple[Summary, ...]:
    """The rows of results without a plan."""
    return analysis_of_results(*results).summaries


@pytest.fixture
def build(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Build:
    """Writes a campaign, with further files if they are given, and builds its report."""

    def build_report(
        manifest: Document | None,
        results: Sequence[Document],
        *arguments: str,
        files: dict[str, bytes] | None = None,
    ) -> Outcome:
        folder = write_campaign(tmp_path / "campaign", manifest, results)
        for name, data in (files or {}).items():
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_bytes(data)
        code = main([str(folder), *arguments])
        captured = capsys.readouterr()
        return Outcome(code, captured.out, captured.err, folder)

    return build_report


@pytest.fixture
def call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Call:
    """Calls `compare` in a folder of its own."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> CompletedCommand:
        capsys.readouterr()
        code = compare_command.main(arguments)
        completed = capsys.readouterr()
        return CompletedCommand(code, completed.out, completed.err)

    return run


@pytest.fixture
def put(tmp_path: Path) -> Put:
    """Writes `results/NAME`: of each target so many requests/s, times each factor; `latest` points
    to it.

    With a `reference` of so many requests/s the targets were measured by turns beside it.
    """

    def write(
        name: str,
        throughputs: dict[str, float],
        factors: tuple[float, ...] = JITTER,
        result_changes: Document | None = None,
        loads: Sequence[Document] = (CLOSED,),
        reference: float | None = None,
        turns: Document | None = None,
        order: str = "turns",
        **changes: Any,
    ) -> Path:
        rates = throughputs if reference is None else {REFERENCE: reference, **throughputs}
        configurations = [configuration(label, load=load) for label in rates for load in loads]
        by_turns: Document = {"turns": turns or TURNS} if reference is not None else {}
        more = by_turns | (result_changes or {})
        results = [
            result(configured, run, int(rates[label] * factor), campaign=name, **more)
            for configured in configurations
            for label in [configured["target"]["label"]]
            for own in [cycle(REFERENCE_JITTER) if label == REFERENCE else factors]
            for run, (_, factor) in enumerate(zip(factors, own, strict=False), start=1)
        ]
        folder = tmp_path / "results" / name
        manifested = manifest(configurations, len(factors), campaign=name, **changes)
        if reference is not None:
            plan = manifested["plan"] | {"order": order}
            plan["references"] = [
                each["hash"]
                for each in plan["configurations"]
                if each["configuration"]["target"]["label"] == REFERENCE
            ]
            for run in plan["runs"]:
                run |= {"round": run["run"], "group": 1}
            manifested["plan"] = plan
        write_campaign(folder, manifested, results)
        latest = folder.with_name("latest")
        latest.unlink(missing_ok=True)
        latest.symlink_to(name)
        return folder

    return write
