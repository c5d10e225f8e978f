#!/usr/bin/env python3
"""What is concluded on hosts whose speed changes, by the whole procedure: `npm run bench:conclusions`

Simulated campaigns, planned in rounds with a copy of the reference, go through the analysis of the report:
rankings, `--runs auto`, `compare`. Hosts: calm; one that remembers the run before (AR(1), 5 %); level shifts
of 10 %; bursts; a ramp of 20 %. Runs deviate by 2 % besides. Exits with 1 where a share lies more than three
standard errors beyond what the rules ask (M17, M22, M29, M31): intervals cover 95 %, wrong claims 5 % of
campaigns, 5 % found in 80 %.

    conclusions.py [CAMPAIGNS]     how many of each kind (400)

About twenty minutes.
"""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "test" / "report")]

from conclusions_study import MORE, OTHERS, Counted, auto, gate, rankings  # noqa: E402
from simulated_campaigns import HOSTS  # noqa: E402

#: A client that is 5 % faster, one that is as fast as the reference, one that is 5 % slower.
PLANTED = {OTHERS[0]: 1.05, OTHERS[2]: 0.95}

_failed: list[str] = []


def told(name: str, counted: Counted, most: tuple[str, ...], least: tuple[tuple[str, float], ...]) -> None:
    """Prints the shares, and keeps those that miss what is asked."""
    texts = []
    for what in sorted(counted.shares):
        bad = (what in most and not counted.at_most(what, 0.05)) or any(
            what == asked and not counted.at_least(what, share) for asked, share in least
        )
        texts.append(f"{what} {100 * counted.share(what):.1f} %{' MISSED' if bad else ''}")
        if bad:
            _failed.append(f"{name}: {what}")
    print(f"{name:46} {'; '.join(texts)}", flush=True)


WRONG = ("false flag", "wrong equality", "wrong winner", "copy told apart", "exit 6")
COVERED = (("covered", 0.95),)


def main(words: list[str]) -> int:
    campaigns = int(words[0]) if words else 400
    print(f"{campaigns} campaigns of each kind; shares of campaigns, of intervals, of comparisons")
    for host in HOSTS:
        for rounds in (5, 10, 20):
            told(f"{host}, {rounds} rounds, equal", rankings(host, campaigns, rounds), WRONG, COVERED)
        told(
            f"{host}, 10 rounds, five others",
            rankings(host, campaigns, 10, others=MORE),
            WRONG,
            COVERED,
        )
        found = rankings(host, campaigns, 10, truth=PLANTED)
        # 80 % are asked where runs deviate by 2 %; these hosts move them by more.
        asked = (*COVERED, ("5 % found", 0.8)) if host == "calm" else COVERED
        told(f"{host}, 10 rounds, 5 % planted", found, WRONG, asked)
        told(f"{host}, auto, equal", auto(host, campaigns), WRONG, COVERED)
        told(f"{host}, auto, 5 % planted", auto(host, campaigns, truth=PLANTED), WRONG, COVERED)
        # Twenty loads each.
        told(f"{host}, compare, 20 loads, equal", gate(host, max(20, campaigns // 2)), WRONG, ())
    for each in _failed:
        print(f"missed: {each}")
    print("met" if not _failed else "missed")
    return 1 if _failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
