"""README.md tells of the example campaign what its results say."""

from report.base.paths import ROOT
from report.cli import readme


def test_the_readme_is_that_of_the_example() -> None:
    path = ROOT / "README.md"
    text = path.read_text(encoding="utf-8")
    assert readme.plain(readme.readme(text)) == readme.plain(text), "run .venv/bin/python report readme"


def test_a_changed_figure_is_noticed() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    begin, end = text.index(readme.BEGIN), text.index(readme.END)
    changed = text[:begin] + text[begin:end].replace("×", "1×", 1) + text[end:]
    assert readme.plain(readme.readme(changed)) != readme.plain(changed)
