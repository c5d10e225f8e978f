/**
 * Says what of a target a gate exchanges: the limiter that the target names, or else its client.
 *   TARGET=ioredis@valkey+rate-limit-redis HARNESS=… node compared-part.mjs
 * prints its kind, id and npm package, the version that the harness has, and the web framework in
 * which it is installed if that is not the default one. Exit code 2 where that is no package.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const { TARGET = "", HARNESS = "" } = process.env;
const load = (name) => import(pathToFileURL(join(HARNESS, "dist/targets", name)).href);
const { clients } = await load("clients/index.js");
const { limiters } = await load("limiters/index.js");
const { DEFAULT_FRAMEWORK, NEST } = await load("frameworks.js");

/** NestJS has its packages in one folder, so its limiter names none of its own. */
const NEST_LIMITER = "@nestjs/throttler";
const ofNest = (NEST.with ?? []).find((text) => text.startsWith(`${NEST_LIMITER}@`));

const [named = "", ...options] = TARGET.split("+");
const clientId = named.split(/[@:~]/)[0];
const limiter = limiters.find(({ id }) => options.some((text) => text.split("~")[0] === id));
const client = clients.find(({ id }) => id === clientId);

const lockFile = join(HARNESS, "package-lock.json");
const lock = existsSync(lockFile) ? JSON.parse(readFileSync(lockFile, "utf8")) : { packages: {} };
const lockedVersion = (name) => lock.packages[`node_modules/${name}`]?.version;

function comparedPart() {
  if (!limiter) return { kind: "client", id: clientId, name: client?.package };
  const isOfNest = limiter.onDemand?.name === NEST.name;
  return { kind: "limiter", id: limiter.id, name: isOfNest ? NEST_LIMITER : limiter.package };
}

const { kind, id, name } = comparedPart();
if (!name) process.exit(2);
const onDemand = limiter?.onDemand?.name === name ? limiter.onDemand.version : undefined;
const version =
  onDemand ?? (name === NEST_LIMITER ? ofNest?.split("@").at(-1) : lockedVersion(name));
const { framework = DEFAULT_FRAMEWORK } = limiter ?? {};
const otherFramework = framework === DEFAULT_FRAMEWORK ? "" : framework;
console.log([kind, id, name, version ?? "latest", otherFramework].join(" ").trim());
