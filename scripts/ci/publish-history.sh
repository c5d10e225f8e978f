#!/usr/bin/env bash
# Checks out the branch that keeps the campaigns of the workflow, and adds one: publish-history.sh CAMPAIGN FOLDER [push]
# All campaigns are then in FOLDER/history. With "" as CAMPAIGN none is added. Only `push` writes to the branch.
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
mkdir -p "$folder/history"
[[ -n $campaign ]] || exit 0
"$here/add-to-history.sh" "$campaign" "$folder/history"
[[ ${3:-} == push ]] || exit 0
git -C "$folder" add --all history
git -C "$folder" -c user.name='github-actions[bot]' -c user.email='41898282+github-actions[bot]@users.noreply.github.com' \
  commit --quiet --message "Campaign $(basename "$campaign")"
git -C "$folder" push --quiet origin "HEAD:refs/heads/$branch"
