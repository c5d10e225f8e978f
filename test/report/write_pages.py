"""Writes campaigns to look at, and their pages: python3 test/report/write_pages.py DIR

They are `report`, `faults`, `machines`, `curve`, `layout` (a packed campaign), several in
`campaigns`, and a `site` of what is published.
"""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import write_campaigns  # noqa: E402
from builder import configuration, failed_result, result, verdict  # noqa: E402
from campaign_writer import manifest, write_campaign  # noqa: E402
from curve_documents import REFERENCE, TARGETS, CurveTarget, curve_campaign  # noqa: E402
from fault_documents import PAUSE, RESTART, faulted  # noqa: E402
from machine_documents import APART, machine, machines_manifest, placed_result  # noqa: E402
from report.cli import pages_command  # noqa: E402
from report.cli.generate_command import main  # noqa: E402
from report.results.archives import unpack  # noqa: E402

HEAVY = {"workload": {"id": "heavy", "complexity": 1000}}
#: Beside others, light alone.
LIGHT_ONLY = ("@valkey", "+same-script")
THROUGHPUTS = {
    "valkey-glide": (5210, 5120, 5300),
    "iovalkey": (6890, 7010, 6930),
    "ioredis": (6400, 6480, 6350),
    "ioredis@valkey": (6500, 6300, 6610),
    "node-redis@valkey": (4410, 4380, 4520),
    "valkey-glide+same-script": (5610, 5580, 5700),
    "iovalkey+same-script": (6510, 6640, 6580),
    "ioredis@valkey+same-script": (6480, 6390, 6530),
    "node-redis@valkey+same-script": (4390, 4450, 4410),
    "iovalkey+autopipelining+same-script": (7420, 7310, 7390),
    "valkey-glide:cluster": (4410, 4300, 4520),
    "iovalkey:cluster": (5230, 5340, 5190),
    "none": (12100, 12350, 12240),
    "memory": (11000, 10890, 11100),
}


def write_report(folder: Path) -> None:
    """Both topologies, workloads and controls, two stores, clients under their own scripts and
    under the one for all, and runs that are invalid, suspect, failed and missing."""
    configurations = []
    results = []
    for label, throughputs in THROUGHPUTS.items():
        for changes, factor in (({}, 1.0), (HEAVY, 0.2)):
            if changes and any(part in label for part in LIGHT_ONLY):
                continue
            configured = configuration(label, **changes)
            configurations.append(configured)
            for run, throughput in enumerate(throughputs, start=1):
                results.append(result(configured, run, int(throughput * factor)))
    cluster = configuration("ioredis:cluster")
    cluster_heavy = configuration("ioredis:cluster", **HEAVY)
    configurations += [cluster, cluster_heavy]
    saturated = verdict("suspect", ("M6", "generator saturated: event loop 0.94 busy"))
    failing = verdict("invalid", ("M9", "0.4 % of the requests failed"))
    results += [
        result(cluster, 1, 5010, verdict=saturated),
        result(cluster, 2, 5900, verdict=failing, totalErrors=101, errors=1),
        *(
            failed_result(cluster_heavy, run, "store-3 ended by signal SIGKILL")
            for run in (1, 2, 3)
        ),
    ]
    document = manifest(configurations)
    document["plan"]["notes"].append(
        "ioredis@valkey is measured beside ioredis, to tell client and store apart"
    )
    document["plan"]["skips"].append(
        {"asked": "none:cluster", "reason": "none knows no cluster: it is none only"}
    )
    write_campaign(folder, document, results)


def write_faults(folder: Path) -> None:
    """Three targets meet two faults, three runs each; one never recovers, and one run is
    invalid."""
    never = {
        "recovery": "never",
        "recovery_s": None,
        "recovery_text": "not in the 3 s that were observed",
    }
    results = [
        faulted(
            label,
            run,
            fault=fault,
            requests_lost=2400 + run,
            **(never if label == "ioredis" else {}),
        )
        for label in ("iovalkey", "ioredis", "iovalkey:cluster")
        for fault in (RESTART, PAUSE)
        for run in (1, 2, 3)
    ]
    results[0]["verdict"] = verdict("invalid", ("M8", "the store counted 7 decisions less"))
    configurations = {entry["configuration_hash"]: entry["configuration"] for entry in results}
    write_campaign(folder, manifest(list(configurations.values())), results)


def write_machines(folder: Path) -> None:
    """Three machines, two of which are one computer."""
    placement = {**APART, "store-1": "ip-10-0-31-217.eu-central-1.compute.internal"}
    one_computer = {
        name: {**machine(name), "shares_kernel_with": [other]}
        for name, other in (("load-host", "app-host"), ("app-host", "load-host"))
    }
    labels = ("iovalkey", "ioredis@valkey")
    write_campaign(
        folder,
        machines_manifest(
            [configuration(label) for label in labels], 3, placement, machines=one_computer
        ),
        [placed_result(run, 2000, label, placement) for label in labels for run in (1, 2, 3)],
    )


def write_curve(folder: Path) -> None:
    """Three targets, a copy of the reference and a control at three rates and at full load."""
    copy = f"{REFERENCE}+copy"
    control = CurveTarget(request_us=20, store_us=0)
    targets = {**TARGETS, copy: TARGETS[REFERENCE], "none": control}
    write_campaign(folder, *curve_campaign(targets, (200, 1000, 5000), copies={copy: REFERENCE}))


def write(root: Path) -> None:
    """Writes all of them into `root`."""
    write_report(root / "report")
    write_faults(root / "faults")
    write_machines(root / "machines")
    write_curve(root / "curve")
    unpack(ROOT / "test" / "fixtures" / "layout.tar.xz", root)
    campaigns = root / "campaigns"
    write_campaigns.write(campaigns)
    several = [
        "--compare-runs",
        str(campaigns),
        "--include-trends",
        "--baseline",
        "20260101_000000",
    ]
    for words in (
        *([str(root / name)] for name in ("report", "faults", "machines", "curve", "layout")),
        [str(campaigns / "20260101_000000")],
        several,
    ):
        if main(words) != 0:
            sys.exit(f"no page of {words}")
    if pages_command.main([str(root / "site"), str(ROOT / "results" / "published")]) != 0:
        sys.exit("no site")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: write_pages.py DIR")
    write(Path(sys.argv[1]))
