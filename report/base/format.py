"""Numbers for people: sensible digits, units at the value, and a dash where there is no figure."""

from collections.abc import Callable, Iterable, Sequence

#: How a figure is printed.
Show = Callable[[float | None], str]
ABSENT = "–"
_KIB = 1024


def decimals(value: float | None, digits: int) -> str:
    return ABSENT if value is None else f"{value:,.{digits}f}"


def _digits_below(value: float | None, bounds: Sequence[float]) -> int:
    """How many of the bounds a value lies below: it is printed with so many digits."""
    return 0 if value is None else sum(value < bound for bound in bounds)


def rate(value: float | None) -> str:
    """Requests per second, three to four digits that mean something."""
    return decimals(value, _digits_below(value, (100, 10)))


def milliseconds(value: float | None) -> str:
    """About three digits; below one millisecond down to the microsecond."""
    return decimals(value, _digits_below(value, (1000, 100, 1)))


def microseconds(value: float | None) -> str:
    return decimals(value, 0 if value is None or value >= 100 else 1)


def mebibytes(value: float | None) -> str:
    return ABSENT if value is None else decimals(value / _KIB**2, 1)


def gibibytes(value: float | None) -> str:
    return ABSENT if value is None else decimals(value / _KIB**3, 1)


def percent(value: float | None, digits: int = 1) -> str:
    return ABSENT if value is None else f"{value:,.{digits}f} %"


def share(value: float | None) -> str:
    return percent(None if value is None else 100 * value, 2)


def bounds(low: float, high: float | None, show: Show) -> str:
    """`> 30.1`, or `30.1–52.0`, for a figure of which no more is known."""
    return f"> {show(low)}" if high is None else f"{show(low)}–{show(high)}"


def ratio(value: float | None) -> str:
    return ABSENT if value is None else f"{value:.2f}×"


def count(value: float | None) -> str:
    return decimals(value, 0)


def plural(number: int, word: str) -> str:
    return f"{number:,} {word}{'' if number == 1 else 's'}"


def _cut(label: str, width: int, head: int) -> str:
    return (
        label
        if len(label) <= width
        else f"{label[:head]}…{label[len(label) - (width - head - 1) :]}"
    )


def cut_labels(labels: Iterable[str], width: int) -> dict[str, str]:
    """Each label in at most `width` characters, by the whole one; two of them are never cut to the
    same text.

    A long one is cut in its middle, because its end tells versions and scripts apart. Where that
    makes two equal, the cut moves; where no place tells all of them apart, those that are cut are
    numbered."""
    whole = list(dict.fromkeys(labels))
    for head in sorted(
        range(1, width - 1), key=lambda place: abs(place - (width - width // 2 - 1))
    ):
        cuts = [_cut(label, width, head) for label in whole]
        if len(set(cuts)) == len(whole):
            return dict(zip(whole, cuts, strict=True))
    numbered = {}
    for number, label in enumerate(whole, start=1):
        end = f"…{number}"
        numbered[label] = label if len(label) <= width else f"{label[: width - len(end)]}{end}"
    return numbered


def counted_runs_text(counted: int, planned: int, suspect: int) -> str:
    """`6 of 6`, `6 of 6, 2 of them suspect`: how many of the planned runs count."""
    return f"{counted} of {planned}{f', {suspect} of them suspect' if suspect else ''}"


def joined(words: Sequence[str]) -> str:
    return " and ".join([*([", ".join(words[:-1])] if len(words) > 1 else []), *words[-1:]])
