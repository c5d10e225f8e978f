"""Writes a campaign of faults to look at: python3 test/report/write_faults.py DIR

Three targets meet two faults, three runs each; one target never recovers, and one run is invalid.
"""

import sys
from pathlib import Path

from builder import verdict
from campaign_writer import manifest, write_campaign
from fault_documents import PAUSE, RESTART, faulted

NEVER = {"recovery": "never", "recovery_s": None, "recovery_text": "not in the 3 s that were observed"}


def write(folder: Path) -> None:
    """Writes the campaign into `folder`, which is made when missing."""
    results = [
        faulted(label, run, fault=fault, requests_lost=2400 + run, **(NEVER if label == "ioredis" else {}))
        for label in ("iovalkey", "ioredis", "iovalkey:cluster")
        for fault in (RESTART, PAUSE)
        for run in (1, 2, 3)
    ]
    results[0]["verdict"] = verdict("invalid", ("M8", "the store counted 7 decisions less"))
    configurations = {entry["configuration_hash"]: entry["configuration"] for entry in results}
    write_campaign(folder, manifest(list(configurations.values())), results)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: write_faults.py DIR")
    write(Path(sys.argv[1]))
