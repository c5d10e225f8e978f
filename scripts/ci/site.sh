#!/usr/bin/env bash
# Builds the website: site.sh SITE_FOLDER RESULTS_FOLDER…
# One page above all campaigns, audits and claims in these folders, their own pages, every run, and a feed. SITE_ADDRESS
# is where it is published; on GitHub it is that of the repository's Pages. Claims that nobody measured are listed, too.
# A campaign may be packed: STAMP.tar.xz in place of the folder STAMP.
set -euo pipefail
# Not by way of a link to this folder: what is called stands beside it.
here=$(cd -P "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
root=$(dirname "$(dirname "$here")")
. "$here/common.sh"
site=${1:?the folder of the site}
shift
(($#)) || refuse 'name the folders of results'
roots=()
for folder in "$@"; do
  # A new checkout has none, and a workflow by hand adds none.
  [[ ! -d $folder ]] || roots+=("$folder")
done
((${#roots[@]})) || refuse "none of these folders is there: $*"
address=${SITE_ADDRESS:-}
if [[ -z $address && -n ${GITHUB_REPOSITORY:-} ]]; then
  address="https://${GITHUB_REPOSITORY%%/*}.github.io/${GITHUB_REPOSITORY#*/}/"
fi
"$root/scripts/setup.sh"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
for folder in "${roots[@]}"; do
  name=$(basename "$(cd -P "$folder" && pwd -P)")
  while IFS= read -r archive; do
    place=$scratch/$name/$(dirname "${archive#"$folder"/}")
    mkdir -p "$place"
    python3 -m tarfile -e "$archive" "$place"
    [[ " ${roots[*]} " == *" $scratch/$name "* ]] || roots+=("$scratch/$name")
  done < <(find "$folder" -name '*.tar.xz' | sort)
done
# The register with what was unpacked; one that was reported there already comes before it. A copy, so that docs/claims.md
# stays.
cp -R "$root/claims" "$scratch/register"
node "$root/dist/orchestrator/cli.js" claims report --claims "$scratch/register" --output "$scratch/results" >&2
[[ " ${roots[*]} " == *" $scratch/results "* ]] || roots+=("$scratch/results")
python3 "$root/report" site "$site" "${roots[@]}" ${address:+"--address=$address"}
