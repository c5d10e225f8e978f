#!/usr/bin/env bash
# Makes a plugin from one version of a client: make-plugin.sh SIDE CLIENT HARNESS PACKAGE FOLDER
#   SIDE     base or head: the client is registered as CLIENT-SIDE
#   CLIENT   id of the client in HARNESS, e.g. ioredis
#   HARNESS  a built checkout or installed package of ratelimit-bench; the plugin uses its adapter of the client
#   PACKAGE  the npm package of the client: a tarball, or name@version
#   FOLDER   the folder to create
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
(($# == 5)) || refuse 'usage: make-plugin.sh SIDE CLIENT HARNESS PACKAGE FOLDER'
side=$1 client=$2 harness=$3 package=$4 folder=$5
[[ $side == base || $side == head ]] || refuse 'SIDE must be base or head'
[[ $client =~ ^[a-z0-9][a-z0-9.-]{0,34}$ ]] || refuse 'CLIENT must be the id of a client'
[[ -d $harness/dist/targets ]] || refuse "$harness contains no built ratelimit-bench"
[[ ! -e $folder ]] || refuse "$folder exists"

# The adapter is next to the package, so it loads this version and no other.
mkdir -p "$folder/dist"
cp -R "$harness/dist/targets" "$harness/dist/contract" "$harness/dist/kit" "$folder/dist/"
printf '{"name":"%s-%s","version":"0.0.0","private":true,"type":"module","exports":"./index.js"}\n' "$client" "$side" \
  >"$folder/package.json"
cat >"$folder/index.js" <<JS
import { clients } from "./dist/targets/clients/index.js";

const client = clients.find(({ id }) => id === "$client");
if (!client) throw new Error("ratelimit-bench has no client $client");
export default { clients: [{ ...client, id: "$client-$side" }] };
JS
npm install --prefix "$folder" --ignore-scripts --no-audit --no-fund --no-update-notifier --loglevel=error -- "$package" >&2
# What the adapters import besides the client: the harness's copies are not found from here.
for name in zod fastest-levenshtein; do
  found=$(HARNESS=$harness NAME=$name node -p '
    require("node:path").dirname(require.resolve(`${process.env.NAME}/package.json`, { paths: [process.env.HARNESS] }))')
  [[ -e $folder/node_modules/$name ]] || cp -R "$found" "$folder/node_modules/"
done
# npm's links may lead out of the folder; containers cannot follow them.
rm -rf "$folder/node_modules/.bin"
