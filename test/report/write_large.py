"""Writes a campaign of hundreds of configurations: python3 test/report/write_large.py DIR

Clients under several stores and scripts, both topologies, two workloads and traffics, many connections.
"""

import sys
from pathlib import Path

from builder import configuration, result
from campaign_writer import manifest, write_campaign

LABELS = (
    *("valkey-glide", "iovalkey", "ioredis", "ioredis@valkey", "node-redis@valkey"),
    *("iovalkey+same-script", "valkey-glide+same-script"),
    *("valkey-glide:cluster", "iovalkey:cluster", "ioredis:cluster"),
    *("none", "memory"),
)
WORKLOADS = ({"id": "light"}, {"id": "heavy", "complexity": 1000})
TRAFFICS = ("realistic", "fixed")
CONNECTIONS = (10, 20, 50, 100, 200, 500, 1000, 2000)
RUNS = 2


def write(folder: Path) -> None:
    """Writes the campaign into `folder`, which is made when missing."""
    configurations, results = [], []
    for number, label in enumerate(LABELS):
        for workload in WORKLOADS:
            for traffic in TRAFFICS:
                for connections in CONNECTIONS:
                    load = {"model": "closed", "connections": connections}
                    configured = configuration(label, workload=workload, traffic=traffic, load=load)
                    configurations.append(configured)
                    for run in range(1, RUNS + 1):
                        speed = 900 + 31 * number + 17 * run + connections % 97
                        results.append(result(configured, run, speed))
    write_campaign(folder, manifest(configurations, RUNS), results)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: write_large.py DIR")
    write(Path(sys.argv[1]))
