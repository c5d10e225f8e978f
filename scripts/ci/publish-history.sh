#!/usr/bin/env bash
# Adds a campaign to the branch that keeps the campaigns of the workflow, and checks that branch out into a folder:
# publish-history.sh CAMPAIGN_FOLDER FOLDER. With "" as campaign the branch is only checked out.
set -euo pipefail
unset CDPATH
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/common.sh"
campaign=$1 folder=${2:?the folder for all campaigns}
branch=${HISTORY_BRANCH:-benchmark-history}

if git ls-remote --exit-code --heads origin "$branch" >/dev/null; then
  git fetch --quiet --depth=1 origin "$branch"
  git worktree add --quiet --detach "$folder" FETCH_HEAD
else
  git worktree add --quiet --detach --no-checkout "$folder"
  git -C "$folder" switch --quiet --orphan "new-$branch"
fi
[[ -n $campaign ]] || exit 0
"$here/add-to-history.sh" "$campaign" "$folder/history"
git -C "$folder" add --all history
git -C "$folder" -c user.name='github-actions[bot]' -c user.email='41898282+github-actions[bot]@users.noreply.github.com' \
  commit --quiet --message "Campaign $(basename "$campaign")"
git -C "$folder" push --quiet origin "HEAD:refs/heads/$branch"
