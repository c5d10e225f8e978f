"""Whole campaigns: a manifest, and the files of a folder."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from builder import hash_of
from fixtures import Document, fixture
from report.results.older_documents import load_text


def planned(configured: Document) -> Document:
    """A configuration as a plan holds it."""
    return {
        "hash": hash_of(configured),
        "configuration": configured,
        "load_text": load_text(configured["layer"], configured["load"]),
    }


def manifest(configurations: Sequence[Document], runs: int = 3, **changes: Any) -> Document:
    found = fixture("manifest")
    found["plan"] |= {
        "runs_per_configuration": runs,
        "configurations": [planned(each) for each in configurations],
        "runs": [
            {"configuration_hash": hash_of(each), "run": run, "file": f"{number}_run{run}.json"}
            for number, each in enumerate(configurations)
            for run in range(1, runs + 1)
        ],
    }
    return {**found, **changes}


def write_campaign(folder: Path, manifested: Document | None, results: Sequence[Document]) -> Path:
    """Writes the files of a campaign; names say nothing, as identity is in the JSON."""
    folder.mkdir(parents=True, exist_ok=True)
    if manifested is not None:
        (folder / "manifest.json").write_text(json.dumps(manifested), encoding="utf-8")
    for number, document in enumerate(results):
        (folder / f"{number:02d}_run{document['run']}.json").write_text(
            json.dumps(document), encoding="utf-8"
        )
    return folder
