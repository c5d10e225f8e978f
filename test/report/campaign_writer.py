"""Writes whole campaigns, each with a manifest and the files of a folder."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from builder import hash_of
from fixtures import Document, fixture
from report.results.older_documents import load_text


def planned(configured: Document) -> Document:
    """The entry of a configuration in a plan."""
    return {
        "hash": hash_of(configured),
        "configuration": configured,
        "load_text": load_text(configured["layer"], configured["load"]),
    }


def manifest(configurations: Sequence[Document], runs: int = 3, **changes: Any) -> Document:
    document = fixture("manifest")
    document["plan"] |= {
        "runs_per_configuration": runs,
        "configurations": [planned(configured) for configured in configurations],
        "runs": [
            {
                "configuration_hash": hash_of(configured),
                "run": run,
                "file": f"{number}_run{run}.json",
            }
            for number, configured in enumerate(configurations)
            for run in range(1, runs + 1)
        ],
    }
    return {**document, **changes}


def write_campaign(folder: Path, manifested: Document | None, results: Sequence[Document]) -> Path:
    """Writes the files of a campaign. Their names have no meaning, because the JSON holds the
    identity."""
    folder.mkdir(parents=True, exist_ok=True)
    if manifested is not None:
        (folder / "manifest.json").write_text(json.dumps(manifested), encoding="utf-8")
    for number, document in enumerate(results):
        (folder / f"{number:02d}_run{document['run']}.json").write_text(
            json.dumps(document), encoding="utf-8"
        )
    return folder
