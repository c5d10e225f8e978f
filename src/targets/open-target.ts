import type { RunSpec } from "../contract/run-spec.js";
import type { StoreAccess } from "../contract/store-url.js";
import { partText, type Target } from "../contract/target.js";
import { definedOnly } from "../kit/defined-only.js";
import { formatNodes } from "../kit/env.js";
import { environmentError, messageOf, usageError } from "../kit/errors.js";
import { type Libraries, librariesOnDemand } from "./libraries.js";
import { asRequestLimiter, failOpen, withCost } from "./request-limiter.js";
import { describeClient, findLimiter, resolveTarget, unsupportedLimits } from "./resolve.js";
import type {
  ClientDescription,
  LimiterIdentity,
  OpenClient,
  RequestLimiter,
  StorePlace,
} from "./target-types.js";

type TargetSpec = Pick<
  RunSpec,
  "target" | "limits" | "store" | "service" | "key_prefix" | "versions_folder"
>;

/** A target whose client is connected and whose scripts are in the store. */
export interface OpenTarget {
  target: Target;
  client: OpenClient;
  limiter: (RequestLimiter & LimiterIdentity) | undefined;
  /** Closes the client; does not reject when the store is gone. */
  close(): Promise<void>;
}

type RequestedPackage = { package: string | undefined; version: string | undefined };

/**
 * Where that package is loaded from.
 * @throws environmentError when the version is not installed
 */
const librariesFor = (
  { package: name, version }: RequestedPackage,
  folder: string | undefined,
): Libraries => librariesOnDemand(name && version ? { name, version } : undefined, folder);

/**
 * A client or limiter of a plugin may load another version. @throws environmentError naming both
 * versions
 */
function requireVersion(
  { package: name, version }: RequestedPackage,
  loaded: string | undefined,
): void {
  if (version === undefined || version === loaded) return;
  throw environmentError(
    `${name} ${version} was requested, but ${loaded ?? "an unknown version"} was loaded`,
  );
}

/** @throws usageError when it cannot be measured, or the store of the spec is another one */
function targetOf({ target: { text }, store }: TargetSpec): Target {
  const resolution = resolveTarget(text);
  if ("skip" in resolution) throw usageError(`${text}: ${resolution.skip}`);
  const { target } = resolution;
  if (target.store !== store.id || target.topology !== store.topology) {
    throw usageError(
      `the target ${text} uses ${target.store} ${target.topology}, but the store is ${store.id} ${store.topology}`,
    );
  }
  return target;
}

async function openClient(
  target: Target,
  description: ClientDescription,
  place: StorePlace,
  folder: string | undefined,
): Promise<OpenClient> {
  const requested = { package: description.package, version: target.client_version };
  const libraries = librariesFor(requested, folder);
  let client: OpenClient | undefined;
  try {
    client = await description.open(place, { libraries });
    requireVersion(requested, client.version);
    await client.storeVersion();
    return client;
  } catch (error) {
    await client?.close();
    const { service } = place;
    const system = service
      ? `service ${service.id} at ${service.host}:${service.port}`
      : `${place.store} ${place.topology} at ${formatNodes(place.nodes)}`;
    const name = partText(target.client, target.client_version);
    throw environmentError(`${name} cannot use the ${system}: ${messageOf(error)}`, {
      cause: error,
    });
  }
}

async function createLimiter(
  target: Target,
  description: ClientDescription,
  client: OpenClient,
  { limits, key_prefix, versions_folder: folder }: TargetSpec,
): Promise<OpenTarget["limiter"]> {
  const limiter = findLimiter(target.limiter);
  if (!limits) throw usageError("the run spec names no limits");
  const requested = { package: limiter.package, version: target.limiter_version };
  const libraries = requested.version
    ? librariesFor(requested, folder)
    : librariesOnDemand(limiter.onDemand, folder);
  try {
    const created = await limiter.create(client, description, limits, key_prefix, libraries);
    requireVersion(requested, created?.version);
    if (!created) return undefined;
    const decided = asRequestLimiter(created);
    return withCost(description.failsOpen ? failOpen(decided) : decided, limits.cost);
  } catch (error) {
    const name = partText(target.limiter, target.limiter_version);
    const user = target.service ? target.client : name;
    const dependency = target.service ? `service ${target.service}` : target.store;
    throw environmentError(`${user} cannot use the ${dependency}: ${messageOf(error)}`, {
      cause: error,
    });
  }
}

/**
 * Connects, checks the store and loads the limiter's scripts. @throws usageError; environmentError
 */
export async function openTarget(spec: TargetSpec, access?: StoreAccess): Promise<OpenTarget> {
  const target = targetOf(spec);
  const reason = spec.limits && unsupportedLimits(target, spec.limits);
  if (reason) throw usageError(reason);
  const description = describeClient(target);
  const place = definedOnly({
    store: target.store,
    topology: target.topology,
    nodes: spec.store.nodes,
    service: spec.service,
    access,
  });
  const client = await openClient(target, description, place, spec.versions_folder);
  try {
    const limiter = await createLimiter(target, description, client, spec);
    return { target, client, limiter, close: () => client.close() };
  } catch (error) {
    await client.close();
    throw error;
  }
}
