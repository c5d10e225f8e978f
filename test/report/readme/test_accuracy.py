"""docs/accuracy.md tells of the archives what they say."""

import pytest

from generated_pages import plain
from report.analysis.error_budget import read_budget
from report.base.paths import ROOT
from report.readme.accuracy import (
    PAGE,
    accuracy_markdown,
    read_layer_figures,
)


@pytest.mark.long
def test_the_page_is_that_of_the_archives() -> None:
    text = (ROOT / "docs" / PAGE).read_text(encoding="utf-8")
    generated = accuracy_markdown(read_layer_figures(ROOT / "results"), read_budget())
    assert plain(generated) == plain(text), "run npm run accuracy, then npm run format"
