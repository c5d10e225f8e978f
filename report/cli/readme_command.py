"""`report readme`: writes the parts of README.md that come from results between their marks."""

import sys
from collections.abc import Sequence

from report.base.errors import USAGE
from report.base.paths import ROOT
from report.readme.readme_blocks import readme


def main(arguments: Sequence[str]) -> int:
    if arguments:
        print("usage: report readme", file=sys.stderr)
        return USAGE

    path = ROOT / "README.md"
    path.write_text(readme(path.read_text(encoding="utf-8")), encoding="utf-8")
    return 0
