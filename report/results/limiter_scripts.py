"""Names of limiter scripts, for texts."""

from report.results.generated import records


def script_sha1(script: records.LimiterScript) -> str | None:
    """The sha1 of the text of a script. None for a function, whose name does not identify its
    text."""
    return None if script.kind == "fcall" else script.name_or_sha1


def short_script_name(script: records.LimiterScript) -> str:
    """The first 8 digits of the sha1, or the whole name of a function."""
    return script.name_or_sha1[: 8 if script_sha1(script) else None]


def script_text(script: records.LimiterScript) -> str:
    """A text such as `FCALL consume` or `EVALSHA a1de965f`."""
    return f"{script.kind.upper()} {short_script_name(script)}"
