"""Formats numbers for people, with sensible digits, units, and a dash without a figure."""

from collections.abc import Callable, Iterable, Sequence

#: Formats a figure.
Show = Callable[[float | None], str]
ABSENT = "–"
_KIB = 1024


def decimals(value: float | None, digits: int) -> str:
    return ABSENT if value is None else f"{value:,.{digits}f}"


def rate(value: float | None) -> str:
    """Requests per second, with three to four significant digits."""
    if value is None or value >= 100:
        return decimals(value, 0)
    return decimals(value, 1 if value >= 10 else 2)


def milliseconds(value: float | None) -> str:
    """Milliseconds with about three digits, and below one millisecond down to the microsecond."""
    if value is None:
        return ABSENT
    if value >= 1000:
        return decimals(value, 0)
    if value >= 100:
        return decimals(value, 1)
    return decimals(value, 2 if value >= 1 else 3)


def microseconds(value: float | None) -> str:
    return decimals(value, 0 if value is None or value >= 100 else 1)


def cores(value: float | None) -> str:
    """A number of CPUs with about three digits."""
    if value is None:
        return ABSENT
    if value >= 1:
        return decimals(value, 2)
    if value >= 0.1:
        return decimals(value, 3)
    return decimals(value, 4 if value >= 0.01 else 5)


def mebibytes(value: float | None) -> str:
    return ABSENT if value is None else decimals(value / _KIB**2, 1)


def gibibytes(value: float | None) -> str:
    return ABSENT if value is None else decimals(value / _KIB**3, 1)


def percent(value: float | None, digits: int = 1) -> str:
    return ABSENT if value is None else f"{value:,.{digits}f} %"


def share(value: float | None) -> str:
    return percent(None if value is None else 100 * value, 2)


def bounds(low: float, high: float | None, show: Show) -> str:
    """The bounds of a figure, such as `> 30.1` or `30.1–52.0`."""
    return f"> {show(low)}" if high is None else f"{show(low)}–{show(high)}"


def ratio(value: float | None) -> str:
    return ABSENT if value is None else f"{value:.2f}×"


def count(value: float | None) -> str:
    return decimals(value, 0)


def plural(number: int, word: str) -> str:
    return f"{number:,} {word}{'' if number == 1 else 's'}"


def _cut(label: str, width: int, head: int) -> str:
    """The label without its middle. It has `head` characters, an ellipsis, and the end that still
    fits."""
    if len(label) <= width:
        return label
    tail = width - head - 1
    return f"{label[:head]}…{label[len(label) - tail :]}"


def cut_labels(labels: Iterable[str], width: int) -> dict[str, str]:
    """Each label in at most `width` characters, by the whole label. No two labels become equal.

    A long label is cut in its middle, because its end holds versions and scripts. If that makes two
    labels equal, the cut moves. If no place keeps all of them different, cut labels are
    numbered."""
    distinct = list(dict.fromkeys(labels))
    middle = width - width // 2 - 1
    for head in sorted(range(1, width - 1), key=lambda place: abs(place - middle)):
        cuts = [_cut(label, width, head) for label in distinct]
        if len(set(cuts)) == len(distinct):
            return dict(zip(distinct, cuts, strict=True))

    numbered = {}
    for number, label in enumerate(distinct, start=1):
        end = f"…{number}"
        numbered[label] = label if len(label) <= width else f"{label[: width - len(end)]}{end}"
    return numbered


def counted_runs_text(counted: int, planned: int, suspect: int) -> str:
    """How many of the planned runs count, such as `6 of 6` or `6 of 6, 2 of them suspect`."""
    text = f"{counted} of {planned}"
    return f"{text}, {suspect} of them suspect" if suspect else text


def joined(words: Sequence[str]) -> str:
    """The words as a list such as `a, b and c`."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} and {words[-1]}"
