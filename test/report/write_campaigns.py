"""Writes a folder of campaigns to look at: python3 test/report/write_campaigns.py ROOT

Twelve campaigns: a client's version and its level change in the middle, one ran in containers.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from campaign_folders import DOCKER, add_campaign


def write(root: Path) -> None:
    """Writes the campaigns into `root`, which is made when missing."""
    for day in range(1, 13):
        level = 5400 if day > 6 else 6000
        rates = {
            "iovalkey": tuple(level + 40 * ((day + run) % 3) for run in range(3)),
            "ioredis@valkey:cluster": tuple(5000 + 30 * ((2 * day + run) % 5) for run in range(3)),
            "none": (9000 + day, 9100, 9050),
        }
        if day == 12:
            add_campaign(root, day, rates, runtime=DOCKER)
        else:
            add_campaign(root, day, rates, versions={"client": "1.3.0"} if day > 6 else {})


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: write_campaigns.py ROOT")
    write(Path(sys.argv[1]))
