"""What a report costs: npm run bench:report [-- COUNT …]

Makes campaigns of 1,000 and 10,000 results of 30 s, with every sample and histograms of 150,000
values, after the shape of a real result; builds each one's report with the command, in a process of
its own; prints time and peak memory. Ends with 1 when 1,000 results take more than 4 s of CPU or
600 MB, 10,000 results more than 30 s of CPU, or ten times the results more than twelve times as
much.
"""

import copy
import hashlib
import json
import math
import os
import random
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hdrh.histogram import HdrHistogram

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT)]

from report.base.contract import CONSTANTS  # noqa: E402

SHAPE = Path(__file__).with_name("report-shape.json")
COUNTS = (1_000, 10_000)
RUNS = 10
SECONDS = 30
#: Of CPU, by number of results: what other programs do beside the report is no cost of it.
MAX_SECONDS = {1_000: 4, 10_000: 30}
MAX_MEGABYTES = 600
MAX_GROWTH = 1.2
LABELS = ("iovalkey", "ioredis", "valkey-glide", "node-redis")
PERCENTILES: dict[str, float] = CONSTANTS["percentiles"]
CURVE: list[float] = CONSTANTS["curve_percentiles"]

Document = dict[str, Any]


@dataclass(frozen=True)
class Latencies:
    """Histograms of one run as a result holds them, and what it says of them."""

    allowed: Document
    limited: Document
    none: Document
    """Of failed and of censored requests."""
    latency: Document
    curve_ms: list[float]


def _histogram(draw: random.Random, count: int) -> HdrHistogram:
    """Latencies in µs around 8 ms with a long tail, as a busy server has them."""
    histogram = HdrHistogram(1, 60_000_000, 3)
    step = 25
    for _ in range(count // step):
        value = draw.lognormvariate(math.log(8000), 0.35) * (10 if draw.random() < 0.002 else 1)
        histogram.record_value(int(value), step)
    return histogram


def _encoded(histogram: HdrHistogram) -> Document:
    return {
        "unit": "us",
        "encoding": "hdr-v2-compressed-base64",
        "count": histogram.get_total_count(),
        "data": histogram.encode().decode("ascii"),
    }


def _latencies(draw: random.Random) -> Latencies:
    allowed = _histogram(draw, 135_000)
    limited = _histogram(draw, 15_000)
    encoded = _encoded(allowed), _encoded(limited)
    allowed.add(limited)
    stated = {
        name: allowed.get_value_at_percentile(value) / 1000 for name, value in PERCENTILES.items()
    }
    rest = {
        "average": round(allowed.get_mean_value() / 1000, 3),
        "min": allowed.get_min_value() / 1000,
        "max": allowed.get_max_value() / 1000,
        "stddev": round(allowed.get_stddev() / 1000, 3),
    }
    curve_ms = [allowed.get_value_at_percentile(percent) / 1000 for percent in CURVE]
    none = _encoded(HdrHistogram(1, 60_000_000, 3))
    return Latencies(*encoded, none, {**stated, **rest}, curve_ms)


def _result(
    shape: Document, configuration: Document, run: int, latencies: Latencies, draw: random.Random
) -> Document:
    document = copy.deepcopy(shape)
    allowed = latencies.allowed["count"]
    limited = latencies.limited["count"]
    duration = SECONDS * draw.uniform(0.97, 1.03)
    counts = {
        **document["counts"],
        "sent": allowed + limited,
        "allowed": allowed,
        "limited": limited,
        "followed": 0,
        "after_window": dict.fromkeys(document["counts"]["after_window"], 0),
    }
    counts["by_code"] = {"200": allowed, "429": limited}
    document.update(
        configuration=configuration,
        configuration_hash=_hash(configuration),
        run=run,
        duration=duration,
        requests={"average": (allowed + limited) / duration, "total": allowed + limited},
        load_text=_load_text(configuration),
        latency=latencies.latency,
        latency_curve_ms=latencies.curve_ms,
        unsupported=[],
        rate_limit_hits=limited,
        counts=counts,
    )
    generator = document["generators"][0]
    generator["counts"] = generator["workers"][0]["counts"] = counts
    generator["histograms"] = {
        "allowed": latencies.allowed,
        "limited": latencies.limited,
        "failed": latencies.none,
        "censored": latencies.none,
    }
    document["slices"] = _slices(allowed, limited, int(latencies.latency["average"] * 1000))
    (sample,) = document["samples"]
    document["samples"] = [
        {
            **sample,
            "t_s": second,
            "allowed": int(allowed / SECONDS * draw.uniform(0.9, 1.1)),
            "p99_ms": round(draw.uniform(14, 24), 3),
        }
        for second in range(1, SECONDS + 1)
    ]
    for role in document["resources"].values():
        (usage,) = role["samples"]
        role["samples"] = [{**usage, "t_s": second} for second in range(1, SECONDS + 1)]
    return document


def _slices(allowed: int, limited: int, mean_us: int) -> Document:
    """Answers spread evenly over slices of 100 ms."""
    count = SECONDS * 10
    spread = {
        name: [total * (index + 1) // count - total * index // count for index in range(count)]
        for name, total in (("allowed", allowed), ("limited", limited))
    }
    sums = [(one + other) * mean_us for one, other in zip(*spread.values(), strict=True)]
    return {"width_ms": 100, **spread, "failed": [0] * count, "latency_sum_us": sums}


def _hash(configuration: Document) -> str:
    return hashlib.sha256(json.dumps(configuration, sort_keys=True).encode()).hexdigest()[:16]


def _configuration(shape: Document, number: int) -> Document:
    label = LABELS[number % len(LABELS)]
    target = {**shape["configuration"]["target"], "label": label, "client": label}
    return {
        **shape["configuration"],
        "target": {**target, "text": f"{label}@valkey:standalone"},
        "load": {"model": "closed", "connections": 10 + number // len(LABELS)},
        "extent": {"duration_s": SECONDS},
    }


def _load_text(configuration: Document) -> str:
    return f"{configuration['load']['connections']} connections"


def write_campaign(folder: Path, count: int) -> None:
    """A campaign of `count` results, ten a configuration, the same for the same count."""
    draw = random.Random(count)  # noqa: S311 (figures, not secrets)
    shapes = json.loads(SHAPE.read_text(encoding="utf-8"))
    pool = [_latencies(draw) for _ in range(20)]
    configurations = [
        _configuration(shapes["result"], number) for number in range(math.ceil(count / RUNS))
    ]
    plan = shapes["manifest"]["plan"]
    plan["runs_per_configuration"] = RUNS
    for number in range(count):
        configuration = configurations[number // RUNS]
        run = number % RUNS + 1
        name = f"{number:06d}_run{run}.json"
        plan["runs"].append({"configuration_hash": _hash(configuration), "run": run, "file": name})
        document = _result(shapes["result"], configuration, run, draw.choice(pool), draw)
        (folder / name).write_text(json.dumps(document, separators=(",", ":")), encoding="utf-8")
    plan["configurations"] = [
        {
            "hash": _hash(configuration),
            "configuration": configuration,
            "load_text": _load_text(configuration),
        }
        for configuration in configurations
    ]
    (folder / "manifest.json").write_text(json.dumps(shapes["manifest"]), encoding="utf-8")


def measure(folder: Path) -> tuple[float, float, float]:
    """Wall-clock seconds, CPU seconds and peak resident megabytes of one build of a report."""
    command = [sys.executable, str(ROOT / "scripts" / "generate_report.py"), str(folder)]
    start = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)  # noqa: S603
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.monotonic() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"bench: the report ended with {process.returncode}")
    unit = 1 if sys.platform == "darwin" else 1024
    return seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * unit / 1e6


def main() -> int:
    counts = tuple(int(text) for text in sys.argv[1:]) or COUNTS
    cost: dict[int, float] = {}
    failed = False
    for count in counts:
        with tempfile.TemporaryDirectory(prefix="ratelimit-bench-") as temporary:
            folder = Path(temporary) / "campaign"
            folder.mkdir()
            write_campaign(folder, count)
            size = sum(path.stat().st_size for path in folder.iterdir()) / 1e6
            seconds, cpu_seconds, megabytes = measure(folder)
            written = sum(path.stat().st_size for path in (folder / "report").iterdir()) / 1e6
        cost[count] = cpu_seconds / count
        print(
            f"{count:>7,} results ({size:,.0f} MB): {seconds:.1f} s, of CPU {cpu_seconds:.1f} s "
            f"({1000 * cpu_seconds / count:.2f} ms a result), {megabytes:.0f} MB at most, "
            f"{written:.1f} MB written",
            flush=True,
        )
        failed |= cpu_seconds > MAX_SECONDS.get(count, math.inf)
        failed |= count == COUNTS[0] and megabytes > MAX_MEGABYTES
    if len(cost) > 1:
        first, *_, last = (cost[count] for count in sorted(cost))
        print(f"growth: a result costs {last / first:.2f} times as much in the largest campaign")
        failed |= last / first > MAX_GROWTH
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
