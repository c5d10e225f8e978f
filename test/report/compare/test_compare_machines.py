"""`compare` of campaigns on several machines: what it refuses, and what it says of their links."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from builder import configuration, result
from campaign_writer import manifest, write_campaign
from machine_documents import APART, TOGETHER, machine, machines_manifest, placed_result
from report.cli.compare_command import main

JITTER = (0.996, 0.998, 0.999, 1.001, 1.002, 1.004)


class Folder:
    def __init__(self, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self._root = root
        self._capsys = capsys

    def put(self, name: str, placement: Mapping[str, str] | None, **changes: Any) -> None:
        runs = range(1, len(JITTER) + 1)
        rates = [int(2000 * factor) for factor in JITTER]
        configured = configuration("iovalkey")
        document = (
            machines_manifest([configured], len(rates), placement, campaign=name, **changes)
            if placement
            else manifest([configured], len(rates), campaign=name)
        )
        results = [
            placed_result(run, rate, placement=placement, campaign=name)
            if placement
            else result(configured, run, rate, campaign=name)
            for run, rate in zip(runs, rates, strict=True)
        ]
        write_campaign(self._root / "results" / name, document, results)

    def compare(self, *words: str) -> tuple[int, str]:
        code = main(["results/one", "results/two", *words])
        said = self._capsys.readouterr()
        return code, said.out + said.err


@pytest.fixture
def folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Folder:
    monkeypatch.chdir(tmp_path)
    return Folder(tmp_path, capsys)


def test_one_machine_is_not_held_against_three(folder: Folder) -> None:
    folder.put("one", None)
    folder.put("two", APART)
    code, text = folder.compare()
    assert code == 2
    assert "machine differs: one machine, then 3 machines (load generator | server | store)" in text
    assert folder.compare("--allow", "machine")[0] in (0, 7)


def test_other_machines_for_the_same_roles_are_refused(folder: Folder) -> None:
    folder.put("one", APART)
    folder.put("two", TOGETHER)
    code, text = folder.compare()
    assert code == 2
    assert (
        "machine differs: 3 machines (load generator | server | store), then 2 machines (load generator | "
        "server + store)" in text
    )


def test_the_hardware_of_each_role_must_be_of_one_kind(folder: Folder) -> None:
    folder.put("one", APART)
    folder.put("two", APART, machines={"data-host": machine("data-host", cpu_model="Another CPU")})
    code, text = folder.compare()
    assert code == 2
    assert "CPU Example CPU @ 3.00GHz, then Another CPU (of the store)" in text


def test_other_names_and_another_command_machine_are_no_difference(folder: Folder) -> None:
    renamed = {role: f"other-{name}" for role, name in APART.items()}
    folder.put("one", APART)
    folder.put("two", renamed)
    code, text = folder.compare()
    assert code in (0, 7)
    assert "differs" not in text


def test_a_longer_round_trip_is_told_and_no_reason_to_refuse(folder: Folder) -> None:
    folder.put("one", APART, round_trips_us=(61, 58))
    folder.put("two", APART, round_trips_us=(61, 210))
    code, text = folder.compare()
    assert code in (0, 7)
    assert "the round trip between server and store was 58 µs, then 210 µs" in text
    assert "load generator and server" not in text
