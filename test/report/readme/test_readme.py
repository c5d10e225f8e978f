"""README.md tells of the example campaign what its results say."""

from generated_pages import plain
from report.base.paths import ROOT
from report.readme.readme_blocks import BEGIN, END, readme


def test_the_readme_is_that_of_the_example() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert plain(readme(text)) == plain(text), "run .venv/bin/python report readme"


def test_a_changed_figure_is_noticed() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    begin = text.index(BEGIN)
    end = text.index(END)
    changed = text[:begin] + text[begin:end].replace("×", "1×", 1) + text[end:]
    assert plain(readme(changed)) != plain(changed)
