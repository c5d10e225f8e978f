import { isApp } from "../../contract/app.js";
import { countIn, DEFAULT_COUNT } from "../../contract/dimensions.js";
import { isClientLayer } from "../../contract/layers.js";
import { EXHAUSTED_KEY_PREFIX } from "../../contract/server-api.js";
import { type Target, usesStore } from "../../contract/target.js";
import { isEncrypted } from "../../targets/options.js";
import {
  cannotExhaust,
  describeClient,
  otherFramework,
  unsupportedLimits,
} from "../../targets/resolve.js";
import { findProfile } from "../../traffic/lookup.js";
import type { Request, ServiceEnv } from "../request/request.js";
import type { Candidate } from "./candidates.js";
import { loadProgramReason } from "./load-program-targets.js";
import { workersOf } from "./role-counts.js";

/** Says why a candidate cannot be measured as it was requested; undefined where it can. */
type Refusal = (candidate: Candidate, request: Request) => string | undefined;

/**
 * The reason why a plan skips a candidate; undefined where nothing speaks against it. The first
 * reason wins, so the order decides what a user reads.
 */
export function refusalOf(candidate: Candidate, request: Request): string | undefined {
  const refusals: readonly Refusal[] = [
    keysOfNoApp,
    limitsNotKept,
    unequalDenials,
    contradictorySetting,
    missingCertificate,
    undividedLoad,
    nodeWithoutServer,
    wrongFramework,
    unsuitableLoadProgram,
    separateCounters,
  ];
  for (const refusal of refusals) {
    const reason = refusal(candidate, request);
    if (reason) return reason;
  }
  return undefined;
}

/** The user's settings of a target's service; undefined where there are none. */
export const requestedServiceEnv = (
  serviceEnv: ServiceEnv,
  { service }: Target,
): Record<string, string> | undefined => (service === undefined ? undefined : serviceEnv[service]);

/** A request to an app has one key, and nobody knows which keys an app denies. */
function keysOfNoApp({ target, traffic }: Candidate): string | undefined {
  if (!isApp(target)) return undefined;
  const profile = findProfile(traffic);
  const isOfOurLimiters =
    profile.binding !== undefined ||
    profile.population().requests.some(([key, ...others]) => others.length > 0 || isExhausted(key));
  return isOfOurLimiters
    ? `the traffic ${traffic} is about limiters of ours: give another, e.g. --traffic allowed`
    : undefined;
}

const isExhausted = (key: string): boolean => key.startsWith(EXHAUSTED_KEY_PREFIX);

function limitsNotKept({ target, limits }: Candidate): string | undefined {
  return unsupportedLimits(target, limits);
}

/** A target whose denials have another cost takes no traffic that is partly denied. */
function unequalDenials({ target, traffic, limits }: Candidate): string | undefined {
  const reason = cannotExhaust(target);
  if (reason === undefined) return undefined;

  const profile = findProfile(traffic);
  // Traffic whose quota binds has no keys that are exhausted before they are sent.
  if (profile.binding) return undefined;

  const hasExhaustedKeys = profile
    .population()
    .requests.some((descriptors) => descriptors.some(isExhausted));
  if (limits.points >= profile.limits.points && !hasExhaustedKeys) return undefined;

  return `${target.limiter} takes traffic alone that is all admitted, e.g. --traffic allowed: ${reason}`;
}

/** An option of the target and a setting of the user may both set a variable of the service. */
function contradictorySetting({ target }: Candidate, { targets }: Request): string | undefined {
  const { serviceEnvironment = {} } = describeClient(target);
  const settings = requestedServiceEnv(targets.serviceEnv, target) ?? {};
  const variable = Object.keys(settings).find((name) => name in serviceEnvironment);
  if (variable === undefined) return undefined;
  return `an option of this target sets ${variable}, and so does --service-env: give one of them`;
}

/** The harness can give no certificate to a store that it does not start, nor to a pod. */
function missingCertificate({ target }: Candidate, { place }: Request): string | undefined {
  if (!isEncrypted(target)) return undefined;
  if (place.storeAccess.STORE_URL)
    return "+tls is for stores that the campaign starts: give rediss:// in STORE_URL";
  if (place.runtime === "kubernetes")
    return "+tls: a pod gets its address after its files: give --runtime local, docker or podman";
  return undefined;
}

/** Some traffic takes one generator alone, which keeps every request by one clock. */
function undividedLoad({ entry, traffic }: Candidate): string | undefined {
  const generators = countIn(entry, "generators");
  if (generators === DEFAULT_COUNT || !findProfile(traffic).binding) return undefined;
  return `--generators ${generators}: the traffic ${traffic} takes one generator, which keeps every request by one clock`;
}

function nodeWithoutServer({ target: { node }, entry }: Candidate): string | undefined {
  if (node === undefined || !isClientLayer(entry.layer)) return undefined;
  return `+node-${node} is the Node of the server, and the layer ${entry.layer} has none`;
}

function wrongFramework({ entry, target }: Candidate): string | undefined {
  if (!isClientLayer(entry.layer)) return otherFramework(target);
  if (target.framework === undefined) return undefined;
  return `${target.framework} is the server's framework: measure it with --layer server`;
}

function unsuitableLoadProgram(
  { entry, target, traffic, load }: Candidate,
  request: Request,
): string | undefined {
  return loadProgramReason({ ...entry, target, traffic, load }, request);
}

/**
 * A target whose counters are in each of its processes cannot keep the limits: every server, or
 * worker at the limiter layer, would admit the whole quota. Only a quota that requests can use up
 * matters.
 */
function separateCounters(
  { entry, target, traffic, load, limits }: Candidate,
  { place }: Request,
): string | undefined {
  const profile = findProfile(traffic);
  if (usesStore(target) || target.limiter === "none" || limits.points >= profile.limits.points)
    return undefined;
  // Traffic whose quota binds shows how much such a limiter admits.
  if (profile.binding) return undefined;

  const { layer, servers, generators = 1 } = entry;
  const isAtClient = isClientLayer(layer);
  const processes = isAtClient
    ? generators * workersOf({ generators, load }, place.workers)
    : servers;
  if (processes === 1) return undefined;

  const kind = isAtClient ? "workers" : "servers";
  return `each of ${processes} ${kind} has counters of its own, so keys would get ${processes} times their quota of ${limits.points}`;
}
