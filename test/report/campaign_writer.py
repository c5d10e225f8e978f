"""Whole campaigns: a manifest, and the files of a folder."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from builder import CAMPAIGN, Document, hash_of


def manifest(configurations: Sequence[Document], runs: int = 3, **changes: Any) -> Document:
    return {
        "schema": "ratelimit-bench/manifest",
        "schema_version": 3,
        "campaign": CAMPAIGN,
        "status": "finished",
        "started_at": "2026-01-02T03:04:05.000Z",
        "finished_at": "2026-01-02T03:14:05.000Z",
        "command": "./scripts/run-all.sh --quick --seed 7",
        "harness": {"version": "0.1.0", "git_revision": "0123456789abcdef", "node": "24.11.0"},
        "machine": {
            "platform": "linux",
            "kernel": "6.12.0",
            "cpu_model": "Example CPU @ 2.50GHz",
            "cpus": 2,
            "memory_bytes": 8 * 1024**3,
            "sysctl": {"net.core.somaxconn": "4096"},
        },
        "runtime": {"id": "local", "embedded_store": True, "caps_applied": False},
        "stores": {"valkey": {"path": "valkey-server", "version": "9.1.2", "embedded": True}},
        "generator": {"workers": 1},
        "conditions": ["Two cores serve three roles: figures are lower than on a larger host."],
        "plan": {
            "schema": "ratelimit-bench/plan",
            "schema_version": 3,
            "seed": 7,
            "order": "interleaved",
            "runs_per_configuration": runs,
            "warmup_s": 1,
            "cooldown_s": 0,
            "client_cooldown_s": 0,
            "configurations": [{"hash": hash_of(each), "configuration": each} for each in configurations],
            "runs": [
                {"configuration_hash": hash_of(each), "run": run, "file": f"{number}_run{run}.json"}
                for number, each in enumerate(configurations)
                for run in range(1, runs + 1)
            ],
            "skips": [],
            "notes": [],
        },
        **changes,
    }


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
