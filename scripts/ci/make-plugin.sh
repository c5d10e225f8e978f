#!/usr/bin/env bash
# Makes a plugin from one version of a client or a limiter: make-plugin.sh SIDE KIND ID NAME HARNESS PACKAGE FOLDER
#   SIDE     base or head: the part is registered as ID-SIDE
#   KIND     client or limiter
#   ID       its id in HARNESS, e.g. ioredis or rate-limit-redis
#   NAME     the name of its npm package
#   HARNESS  a built checkout or installed package of ratelimit-bench; the plugin uses its adapters
#   PACKAGE  the npm package: a tarball, or name@version
#   FOLDER   the folder to create
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/common.sh"
(($# == 7)) || refuse 'usage: make-plugin.sh SIDE KIND ID NAME HARNESS PACKAGE FOLDER'
side=$1 kind=$2 id=$3 name=$4 harness=$5 package=$6 folder=$7
[[ $side == base || $side == head ]] || refuse 'SIDE must be base or head'
[[ $kind == client || $kind == limiter ]] || refuse 'KIND must be client or limiter'
[[ $id =~ ^[a-z0-9][a-z0-9.-]{0,34}$ ]] || refuse 'ID must be the id of a client or limiter'
[[ $name =~ ^(@[a-z0-9._-]+/)?[a-z0-9._-]+$ ]] || refuse 'NAME must be the name of an npm package'
[[ -d $harness/dist/targets ]] || refuse "$harness contains no built ratelimit-bench"
[[ ! -e $folder ]] || refuse "$folder exists"

mkdir -p "$folder/dist"
cp -R "$harness/dist/targets" "$harness/dist/contract" "$harness/dist/kit" "$folder/dist/"
printf '{"name":"%s-%s","version":"0.0.0","private":true,"type":"module","exports":"./index.js"}\n' "$id" "$side" \
  >"$folder/package.json"
printf '{"kind":"%s","id":"%s","side":"%s","name":"%s"}\n' "$kind" "$id" "$side" "$name" >"$folder/side.json"
cp "$here/side-plugin.js" "$folder/index.js"
npm install --prefix "$folder" --ignore-scripts --no-audit --no-fund --no-update-notifier --loglevel=error -- "$package" >&2
# What the adapters import besides the package: the harness's copies are not found from here. They are below dist/, so
# that the package finds only what was installed with it.
companions=(zod fastest-levenshtein)
case $id in
  fastify-rate-limit) companions+=(fastify) ;;
  express-rate-limit) companions+=(rate-limit-redis) ;;
esac
node "$here/copy-packages.mjs" "$harness" "$folder/dist" "${companions[@]}"
# npm's links may lead out of the folder; containers cannot follow them.
find "$folder" -name .bin -type d -prune -exec rm -rf {} +
