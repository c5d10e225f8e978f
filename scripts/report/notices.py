"""What a reader must know of what is not on the page."""

from .model import Campaign

#: So many excluded files are named; beyond it they are counted.
MAX_NAMED = 100


def campaign_notices(campaign: Campaign) -> tuple[str, ...]:
    """One sentence each: files that were left out, and series that were too many."""
    more, left_out = len(campaign.excluded) - MAX_NAMED, campaign.series_left_out
    return (
        *(f"Excluded: {entry}." for entry in campaign.excluded[:MAX_NAMED]),
        *([f"Excluded: {more:,} more files; the command names each."] if more > 0 else []),
        *(
            [f"The per-second series of {left_out:,} median runs are left out: there are too many to show."]
            if left_out
            else []
        ),
    )
