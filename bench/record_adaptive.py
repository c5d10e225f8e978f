#!/usr/bin/env python3
"""Adds campaigns of 20 fixed runs to bench/adaptive-recorded.json, for `npm run bench:adaptive`.

    .venv/bin/python bench/record_adaptive.py NOTE results/20261121_101500 …

Which pairs are made of a campaign's targets, and of what kind they are, stands in PAIRS below. The campaigns
are measured with the plugin beside this file, for example

    ./scripts/run-all.sh --plugin bench/slowed-clients.plugin.mjs --runtime local --concurrency 1 --runs 20 \
      --clients iovalkey,iovalkey+copy,iovalkey+little,iovalkey+much,memory-a,memory-b \
      --duration-mode custom:8 --warmup 1 --cooldown 0
"""

import json
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT)]

from report.analysis.summary import Summary, summarize  # noqa: E402
from report.results.load import load_campaign  # noqa: E402
from report.results.roles import cpu_us_per_request  # noqa: E402

RECORD = Path(__file__).with_name("adaptive-recorded.json")

#: Base, new and kind, wherever a campaign has both.
PAIRS = (
    ("iovalkey", "iovalkey+copy", "same thing"),
    ("memory-a", "memory-b", "same thing"),
    ("iovalkey", "iovalkey+little", "below 2 %"),
    ("iovalkey+copy", "iovalkey+little", "below 2 %"),
    ("iovalkey", "iovalkey+much", "above 10 %"),
    ("iovalkey+copy", "iovalkey+much", "above 10 %"),
    ("iovalkey+little", "iovalkey+much", "above 10 %"),
    ("iovalkey", "ioredis@valkey", "clients"),
    ("iovalkey+much", "ioredis@valkey", "clients"),
    ("iovalkey", "memory-a", "above 10 %"),
    ("iovalkey", "memory-b", "above 10 %"),
)


def _runs(row: Summary) -> list[dict[str, Any]]:
    return [
        {
            "run": run.run,
            "requests_per_second": round(run.measured.requests_per_second, 1),
            "p99_ms": round(run.measured.percentiles_ms["p99"], 3),
            "server_cpu_us_per_request": round(cpu_us_per_request(run.measured.roles).get("server") or 0, 1),
        }
        for run in row.runs
        if run.eligible and run.measured
    ]


def main(words: list[str]) -> int:
    note, *folders = words
    record = json.loads(RECORD.read_text(encoding="utf-8"))
    campaigns, pairs = record["campaigns"], record["pairs"]
    for folder in folders:
        campaign = load_campaign(Path(folder), series=False)
        manifest = campaign.manifest or {}
        runs = {row.identity.label: _runs(row) for row in summarize(campaign)}
        campaigns[campaign.name] = {
            "note": note,
            "machine": f"{manifest['machine']['cpu_model']}, {manifest['machine']['cpus']} CPUs",
            "settings": manifest["settings"] | {"plugin": "bench/slowed-clients.plugin.mjs"},
            "runs": runs,
        }
        pairs += [
            {"kind": kind, "campaign": campaign.name, "base": base, "new": new}
            for base, new, kind in PAIRS
            if base in runs and new in runs
        ]
    # One run a line: a file for people, too.
    text = json.dumps(record, ensure_ascii=False, indent=1)
    RECORD.write_text(f"{text}\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
