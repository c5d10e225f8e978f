#!/usr/bin/env bash
# Adds a campaign to a folder of campaigns: add-to-history.sh CAMPAIGN_FOLDER HISTORY_FOLDER [HOW_MANY_TO_KEEP]
# Keeps manifest and runs. `report pages` builds the reports; logs are only in the artifact of the workflow run.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
campaign=${1:?the folder of a campaign} history=${2:?the folder of all campaigns}
keep=${3:-26}
[[ $keep =~ ^[1-9][0-9]{0,3}$ ]] || refuse 'HOW_MANY_TO_KEEP must be a number from 1 to 9999'
name=$(basename "$campaign")
[[ $name =~ ^[0-9]{8}_[0-9]{6}$ ]] || refuse "$name is not the folder of a campaign"
runs=("$campaign"/*_run*.json)
[[ -f $campaign/manifest.json && -f ${runs[0]} ]] || refuse "campaign $name has no manifest, or no run"
files=("$campaign/manifest.json" "${runs[@]}")
[[ ! -f $campaign/SHA256SUMS ]] || files+=("$campaign/SHA256SUMS")
[[ -z $(find "${files[@]}" -maxdepth 0 -type l) ]] || refuse "campaign $name contains links"
mkdir -p "$history"
rm -rf "${history:?}/$name"
mkdir "$history/$name"
cp "${files[@]}" "$history/$name/"

# Names are dates, so the newest come last.
names=("$history"/[0-9]*_[0-9]*)
while ((${#names[@]} > keep)); do
  rm -rf "${names[0]}"
  names=("${names[@]:1}")
done
