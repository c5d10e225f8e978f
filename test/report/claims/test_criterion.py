"""The criteria of claims: their hash, and what registers them."""

from math import inf
from pathlib import Path

import pytest

from report.base.paths import ROOT
from report.claims.claim_files import is_question, read_claims
from report.claims.criterion import criterion_of
from report.claims.history import criteria_at
from report.claims.registered import (
    REGISTERED,
    is_registered,
    read_history,
    registered_text,
)

#: The hash that test/unit/orchestrator/request/config-file.test.ts expects of the same ranges.
HASH = "b2379e93e410bbbe40aa90dca44b6bb2a2630461ca9a804a26d38388a4af2bf9"
RANGES = {"ratio": [1.02, None], "refuted": [1, None]}


def test_the_hash_is_that_of_the_ranges_alone_and_the_one_that_a_manifest_has() -> None:
    criterion = criterion_of({**RANGES, "other_conditions": "now"})
    assert criterion and criterion.sha256 == HASH
    assert criterion.confirms == (1.02, inf)
    same = criterion_of({"ratio": [1.02, None], "refuted": [1.0, None]})
    assert same and same.sha256 == HASH
    for change in ({"ratio": [1.03, None]}, {"refuted": [0.9, None]}, {"attainable": [1, 2]}):
        other = criterion_of({**RANGES, **change})
        assert other and other.sha256 != HASH


@pytest.mark.parametrize(
    "entry",
    [
        {"refuted": [1, 2]},
        {"ratio": [None, None]},
        {"ratio": [1, 2], "refuted": [1.5, 3]},
        {"ratio": [1e-9, 2]},
    ],
)
def test_what_is_no_criterion_is_refused(entry: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"ratio|range"):
        criterion_of(entry)


def test_a_criterion_is_registered_by_the_manifest_or_else_by_the_revision() -> None:
    claim = {"id": "a"}
    comparison = {"metric": "p50", "named": ("x", "y"), "criterion": criterion_of(RANGES)}
    entry = {"claim": "a", "metric": "p50", "of": "x", "against": "y", "sha256": HASH}
    earlier = {"harness": {"git_revision": "abc with changes"}}
    history = {"abc": [entry]}
    assert is_registered(claim, comparison, {"criteria": [entry]}, {})
    assert is_registered(claim, comparison, earlier, history)

    assert not is_registered(claim, comparison, earlier, {})
    younger = {**entry, "sha256": "0" * 64}
    assert not is_registered(claim, comparison, earlier, {"abc": [younger]})
    # What the campaign itself registered counts, whatever the revision had.
    assert not is_registered(claim, comparison, {**earlier, "criteria": [younger]}, history)
    other_row = {**comparison, "named": ("x", "z")}
    assert not is_registered(claim, other_row, earlier, history)


def test_the_file_of_earlier_criteria_is_that_of_the_history(tmp_path: Path) -> None:
    folder = ROOT / "claims"
    history = read_history(folder)
    assert history
    (tmp_path / REGISTERED).write_text(registered_text(history), encoding="utf-8")
    assert (tmp_path / REGISTERED).read_bytes() == (folder / REGISTERED).read_bytes()
    assert read_history(tmp_path) == history

    claims = read_claims(folder)
    for revision, entries in history.items():
        found = criteria_at(folder, revision, claims)
        # A clone without history has the file alone.
        if found is not None:
            assert registered_text({revision: found}) == registered_text({revision: entries})


def test_every_statement_has_a_criterion_and_no_question_has_one() -> None:
    claims = read_claims(ROOT / "claims")
    assert any(map(is_question, claims))
    for claim in claims:
        assert claim["expects"] or claim["needs"], claim["id"]
        for expectation in claim["expects"]:
            assert (expectation["criterion"] is None) == is_question(claim), claim["id"]
        text = str({**claim, "expects": []})
        if is_question(claim):
            assert "confirm" not in claim["asks"] and "refute" not in text
