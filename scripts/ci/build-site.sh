#!/usr/bin/env bash
# Builds a website of all reports: build-site.sh HISTORY_FOLDER SITE_FOLDER
# The root is the newest report with its summary.csv; history/ lists all reports.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
history=${1:?the folder of all reports} site=${2:?the folder of the site}
names=()
for folder in "$history"/*; do
  name=$(basename "$folder")
  [[ $name =~ ^[0-9]{8}_[0-9]{6}$ && -f $folder/report/index.html ]] && names=("$name" ${names[@]+"${names[@]}"})
done
((${#names[@]})) || refuse "$history contains no report"
[[ ! -e $site ]] || refuse "$site exists"

mkdir -p "$site/history"
cp -R "$history/${names[0]}/report/." "$site"
for name in "${names[@]}"; do
  mkdir "$site/history/$name"
  cp -R "$history/$name/report/." "$history/$name/manifest.json" "$site/history/$name/"
done
{
  printf '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>ratelimit-bench: all reports</title>\n'
  printf '<meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark"></head>\n'
  printf '<body><h1>All reports</h1>\n<p><a href="../">The latest</a>. Figures of different campaigns come from '
  printf 'different machines: compare within one.</p>\n<ul>\n'
  for name in "${names[@]}"; do
    # The name needs no escaping: it is digits and an underscore, as checked above.
    printf '<li><a href="%s/">%s-%s-%s %s:%s</a> (<a href="%s/summary.csv">CSV</a>)</li>\n' "$name" \
      "${name:0:4}" "${name:4:2}" "${name:6:2}" "${name:9:2}" "${name:11:2}" "$name"
  done
  printf '</ul></body></html>\n'
} >"$site/history/index.html"
