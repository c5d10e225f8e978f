"""Writes a small campaign to look at: python3 test/report/write_fixture.py DIR

It has both topologies, both workloads, both controls, two stores, clients under their own scripts and
under the one for all, and runs that are invalid, suspect, failed and missing.
"""

import sys
from pathlib import Path

from builder import configuration, failed_result, result, verdict
from campaign_writer import manifest, write_campaign

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


def write(folder: Path) -> None:
    """Writes the campaign into `folder`, which is made when missing."""
    configurations, results = [], []
    for label, throughputs in THROUGHPUTS.items():
        for changes, factor in (({}, 1.0), (HEAVY, 0.2)):
            if changes and any(part in label for part in LIGHT_ONLY):
                continue
            configured = configuration(label, **changes)
            configurations.append(configured)
            for run, throughput in enumerate(throughputs, start=1):
                results.append(result(configured, run, int(throughput * factor)))
    cluster, cluster_heavy = configuration("ioredis:cluster"), configuration("ioredis:cluster", **HEAVY)
    configurations += [cluster, cluster_heavy]
    saturated = verdict("suspect", ("M6", "generator saturated: event loop 0.94 busy"))
    failing = verdict("invalid", ("M9", "0.4 % of the requests failed"))
    results += [
        result(cluster, 1, 5010, verdict=saturated),
        result(cluster, 2, 5900, verdict=failing, totalErrors=101, errors=1),
        failed_result(cluster_heavy, 1, "store-3 ended by signal SIGKILL"),
        failed_result(cluster_heavy, 2, "store-3 ended by signal SIGKILL"),
        failed_result(cluster_heavy, 3, "store-3 ended by signal SIGKILL"),
    ]
    document = manifest(configurations)
    document["plan"]["notes"].append(
        "ioredis@valkey is measured beside ioredis, to tell client and store apart"
    )
    document["plan"]["skips"].append(
        {"asked": "none:cluster", "reason": "none knows no cluster: it is none only"}
    )
    write_campaign(folder, document, results)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: write_fixture.py DIR")
    write(Path(sys.argv[1]))
