#!/usr/bin/env bash
# Adds a campaign's report to a folder of reports: add-to-history.sh CAMPAIGN_FOLDER HISTORY_FOLDER [HOW_MANY_TO_KEEP]
# Keeps report and manifest. The single runs are only in the artifact of the workflow run.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
campaign=${1:?the folder of a campaign} history=${2:?the folder of all reports}
keep=${3:-52}
[[ $keep =~ ^[1-9][0-9]{0,3}$ ]] || refuse 'HOW_MANY_TO_KEEP must be a number from 1 to 9999'
name=$(basename "$campaign")
[[ $name =~ ^[0-9]{8}_[0-9]{6}$ ]] || refuse "$name is not the folder of a campaign"
[[ -f $campaign/report/index.html && -f $campaign/report/summary.csv && -f $campaign/manifest.json ]] ||
  refuse "campaign $name has no report with a summary.csv, or no manifest"
[[ -z $(find "$campaign/report" "$campaign/manifest.json" -type l) ]] || refuse "campaign $name contains links"
mkdir -p "$history"
rm -rf "${history:?}/$name"
mkdir "$history/$name"
cp -R "$campaign/report" "$campaign/manifest.json" "$history/$name/"

# Names are dates, so the newest come last.
names=("$history"/[0-9]*_[0-9]*)
while ((${#names[@]} > keep)); do
  rm -rf "${names[0]}"
  names=("${names[@]:1}")
done
