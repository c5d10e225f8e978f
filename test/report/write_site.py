"""Writes a folder of results for a site to look at: python3 test/report/write_site.py ROOT

Two campaigns at 1000/s, of which the second finds another target with the lowest p99; one whose host was not
steady; one each of faults in a cluster, bytes per key, traffic boundary and the store layer; two audits; and
claims, of which one was measured twice.
"""

import json
import sys
from pathlib import Path
from typing import Any

from boundary_documents import boundary
from builder import (
    Document,
    configuration,
    fact_target,
    failed_result,
    hash_of,
    printed_result,
    result,
    verdict,
)
from campaign_writer import manifest, write_campaign
from fault_documents import OPEN, PAUSE, faulted
from memory_documents import run_of
from store_documents import store_configuration

RUNS = 10
AT_1000 = {"model": "open", "rate_per_second": 1000, "arrivals": "constant", "connections": 200}
KILL = {"name": "primary-kill", "action": "kill", "role": "store-1", "start_s": 2}
HOSTILE = "<img src=x onerror=alert(1)>|`*"

#: By label: p99 in µs and the server's CPU per request, on the first and on the second day.
DAYS = (
    {"iovalkey": (2000, 40.0), "ioredis@valkey": (2400, 50.0), "valkey-glide": (3000, 70.0)},
    {"iovalkey": (2400, 40.0), "ioredis@valkey": (2000, 50.0), "valkey-glide": (3000, 70.0)},
)


def named(day: int, number: int = 0) -> tuple[str, str]:
    """Name and time of a campaign."""
    return f"202601{day:02d}_{number:06d}", f"2026-01-{day:02d}T00:{number:02d}:00.000Z"


def add(root: Path, day: int, documents: list[Document], number: int = 0, **changes: Any) -> Path:
    """A campaign with these results, in a folder of its name."""
    name, at = named(day, number)
    configurations = list({each["configuration_hash"]: each["configuration"] for each in documents}.values())
    for each in documents:
        each["campaign"] = name
    runs = max(each["run"] for each in documents)
    document = manifest(configurations, runs, campaign=name, started_at=at, **changes)
    return write_campaign(root / name, document, documents)


def at_rate(label: str, run: int, p99_us: int, cpu_us: float) -> Document:
    """A run of 12 s at 1000/s: p99 needs 10,000 samples."""
    slow, window_s = p99_us + 3 * (run % 3), 12
    document = result(
        configuration(label, load=AT_1000, extent={"duration_s": window_s}),
        run,
        1000,
        allowed_us={1000: 10_560, slow: 240},
        limited_us={1000: 1200},
        window_s=window_s,
    )
    document["resources"]["server-1"]["cpu_us_per_request"] = cpu_us * (1 + (run % 3) / 500)
    return document


def _unsteady() -> list[Document]:
    """The runs of a control lie far apart."""
    rates = {"iovalkey": (6000, 6010, 6020), "ioredis": (5000, 5010, 5020), "none": (7000, 9000, 12000)}
    return [
        result(configuration(label), run, rate)
        for label, values in rates.items()
        for run, rate in enumerate(values, start=1)
    ]


def _faults() -> list[Document]:
    never = {"recovery": "never", "recovery_s": None, "recovery_text": "not in the 3 s that were observed"}
    found = [
        faulted(label, run, fault=fault, **(never if label.startswith("ioredis") and run == 3 else {}))
        for label in ("iovalkey:cluster", "ioredis@valkey:cluster")
        for fault in (KILL, PAUSE)
        for run in (1, 2, 3)
    ]
    glide = configuration("valkey-glide:cluster", load=OPEN, faults=[KILL])
    return [*found, failed_result(glide, 1, f"server-1 ended {HOSTILE}")]


def _memory() -> list[Document]:
    return [run_of(keys, 100 * keys + run, run) for keys in (1000, 5000) for run in (1, 2)]


def _boundary() -> list[Document]:
    return [
        result(configuration("iovalkey", traffic="boundary", load=AT_1000), 1, 1000, boundary=boundary(2)),
        result(
            configuration("ioredis@valkey", traffic="boundary", load=AT_1000),
            1,
            1000,
            boundary=boundary(2.4),
            outcome="failed",
            outcome_text="the limiter did not keep its promise",
        ),
    ]


def _store() -> list[Document]:
    return [
        printed_result(store_configuration(store), run, per_second + run)
        for store, per_second in (("redis", 100_000), ("valkey", 120_000))
        for run in range(1, RUNS + 1)
    ]


def _audited(label: str, statuses: dict[str, str]) -> Document:
    return {
        "target": {**fact_target(label), "label": label},
        "findings": [
            {"check": check, "status": status, "seconds": 1, "promised": "the quota", "seen": HOSTILE}
            for check, status in statuses.items()
        ],
        "seconds": 2,
    }


def add_audit(root: Path, day: int, statuses: dict[str, dict[str, str]]) -> None:
    """An audit of these targets, by check."""
    name, at = named(day)
    counted = [status for checks in statuses.values() for status in checks.values()]
    titles = {"exact-burst": "Exact burst", "failover": "Failover"}
    document = {
        "schema": "ratelimit-bench/audit",
        "schema_version": 1,
        "audit": name,
        "started_at": at,
        "finished_at": at,
        "command": "ratelimit-bench audit --clients iovalkey,ioredis@valkey",
        "runtime": "local",
        "harness": "0.1.0",
        "node": "24.0.0",
        "programs": {"valkey": "9.1.2"},
        "checks": [
            {"id": id_, "title": title, "promise": "It holds.", "matters": "It counts."}
            for id_, title in titles.items()
        ],
        "targets": [_audited(label, checks) for label, checks in statuses.items()],
        "skips": [],
        "counts": {each: counted.count(each) for each in ("holds", "broken", "skipped", "failed")},
    }
    folder = root / "audits" / name
    folder.mkdir(parents=True)
    (folder / "audit.json").write_text(json.dumps(document), encoding="utf-8")


def _claim(id_: str, title: str, rows: tuple[str, str] | None) -> Document:
    comparison: Document = {
        "id": "headline",
        "campaign": "a-and-b" if rows else "never",
        "metric": "throughput",
        "new": {"target": "new"},
        "base": {"target": "base"},
        "new_text": "ioredis@valkey",
        "base_text": "iovalkey",
        "conditions": "50 connections",
        "as_published": True,
        "expected": {"ratio": 1.35, "at_least": 1.2, "at_most": 1.5, "refuted_below": 1.1},
    }
    if rows:
        comparison["rows"] = {"new": [rows[0]], "base": [rows[1]]}
    return {
        "id": id_,
        "title": title,
        "sentence": f"{title} {HOSTILE}",
        "source": {"project": "A", "date": "2025-04", "address": "https://example.com/a"},
        "measured_there": {"load": "50 connections"},
        "refuted_by": "less than 10 % faster",
        "comparisons": [comparison],
    }


def add_claims(root: Path) -> None:
    """One held with the one version and does not with the next, one was not measured, one cannot be."""
    folder = root / "claims"
    labels = ("iovalkey", "ioredis@valkey")
    for day, ratio, version in ((8, 1.35, "5.6.0"), (9, 0.9, "5.6.1")):
        documents = [
            result(configuration(label), run, int(4000 * factor * (1 + ((3 * run + place) % 5 - 2) / 500)))
            for place, (label, factor) in enumerate(zip(labels, (1.0, ratio), strict=True))
            for run in range(1, RUNS + 1)
        ]
        for each in documents:
            each["versions"]["client"] = version
        reference = documents[0]["configuration_hash"]
        add(folder / "a-and-b", day, documents)
        path = folder / "a-and-b" / named(day)[0] / "manifest.json"
        written = json.loads(path.read_text(encoding="utf-8"))
        written["plan"]["references"] = [reference]
        path.write_text(json.dumps(written), encoding="utf-8")
    new, base = (hash_of(configuration(label)) for label in reversed(labels))
    register = {
        "schema": "ratelimit-bench/claims",
        "schema_version": 1,
        "harness": "0.1.0",
        "claims": [
            _claim("a-beats-b", "A is 35 % faster than B", (new, base)),
            _claim("never-measured", "C is faster than D", None),
            {
                **_claim("untold", "E is faster than F", None),
                "comparisons": [],
                "cannot_be_told": {
                    "why": "what was compared is in no published version " * 5,
                    "takes": "a build",
                },
            },
        ],
        "campaigns": [
            {
                "id": "a-and-b",
                "differs": [],
                "folder": f"a-and-b/{named(9)[0]}",
                "earlier": [f"a-and-b/{named(8)[0]}"],
            },
            {"id": "never", "differs": []},
        ],
    }
    (folder / "report").mkdir()
    (folder / "report" / "register.json").write_text(json.dumps(register), encoding="utf-8")


def write(root: Path) -> None:
    """Writes everything into `root`, which is made when missing."""
    for day, targets in enumerate(DAYS, start=1):
        documents = [
            at_rate(label, run, *figures) for label, figures in targets.items() for run in range(1, RUNS + 1)
        ]
        documents[0]["verdict"] = verdict("suspect", ("M25", f"other programs used 9 % {HOSTILE}"))
        add(root, day, documents, command="ratelimit-bench run --rate 1000 --runs 10")
    add(root, 3, _unsteady(), command="ratelimit-bench run --concurrency 50 --seed 7")
    add(root, 4, _faults())
    add(root, 5, _memory())
    add(root, 6, _boundary())
    add(root, 7, _store())
    add_audit(root, 5, {"iovalkey": {"exact-burst": "holds", "failover": "holds"}})
    add_audit(
        root,
        6,
        {
            "iovalkey": {"exact-burst": "broken", "failover": "holds"},
            "ioredis@valkey": {"exact-burst": "holds", "failover": "broken"},
        },
    )
    add_claims(root)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: write_site.py ROOT")
    write(Path(sys.argv[1]))
