"""README.md shows what the results of the example campaign say."""

import update_readme


def test_the_readme_is_that_of_the_example() -> None:
    path = update_readme.ROOT / "README.md"
    text = path.read_text(encoding="utf-8")
    assert update_readme.plain(update_readme.readme(text)) == update_readme.plain(text), (
        "run scripts/update_readme.py"
    )


def test_a_changed_figure_is_noticed() -> None:
    text = (update_readme.ROOT / "README.md").read_text(encoding="utf-8")
    begin, end = text.index(update_readme.BEGIN), text.index(update_readme.END)
    changed = text[:begin] + text[begin:end].replace("0.89×", "0.99×") + text[end:]
    assert update_readme.plain(update_readme.readme(changed)) != update_readme.plain(changed)
