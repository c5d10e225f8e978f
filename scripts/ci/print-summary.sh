#!/usr/bin/env bash
# Prints at most 40 lines of the summary of a campaign in Markdown, for a job or a comment: print-summary.sh CAMPAIGN_FOLDER
set -euo pipefail
folder=${1:?the folder of a campaign}
if [[ -f $folder/report/summary.md ]]; then
  sed '/^<!-- details -->$/,$d' "$folder/report/summary.md" | head -n 38
  printf '\nThe whole report is in the artifact.\n'
else
  printf 'Campaign %s has no summary: its report is in the artifact.\n' "$(basename "$folder")"
fi
