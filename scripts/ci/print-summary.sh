#!/usr/bin/env bash
# Prints the summary of a campaign in Markdown, for a job or a comment: print-summary.sh CAMPAIGN_FOLDER
set -euo pipefail
folder=${1:?the folder of a campaign}
if [[ -f $folder/report/summary.md ]]; then
  cat "$folder/report/summary.md"
else
  printf 'Campaign %s has no summary: its report is in the artifact.\n' "$(basename "$folder")"
fi
