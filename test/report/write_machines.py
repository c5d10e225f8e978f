"""Writes a campaign on several machines to look at: python3 test/report/write_machines.py DIR"""

import sys
from pathlib import Path

from builder import configuration
from campaign_writer import write_campaign
from machine_documents import APART, machine, machines_manifest, placed_result


def write(folder: Path) -> None:
    """Writes the campaign into `folder`, which is made when missing."""
    long_name = "ip-10-0-31-217.eu-central-1.compute.internal"
    placement = {**APART, "store-1": long_name}
    one_computer = {
        "load-host": {**machine("load-host"), "shares_kernel_with": ["app-host"]},
        "app-host": {**machine("app-host"), "shares_kernel_with": ["load-host"]},
    }
    labels = ("iovalkey", "ioredis@valkey")
    write_campaign(
        folder,
        machines_manifest([configuration(label) for label in labels], 3, placement, machines=one_computer),
        [placed_result(run, 2000, label, placement) for label in labels for run in (1, 2, 3)],
    )


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: write_machines.py DIR")
    write(Path(sys.argv[1]))
