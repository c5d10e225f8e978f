import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import type { Limits } from "../../../contract/configuration.js";
import type { ServiceSpec } from "../../../contract/run-spec.js";
import { parseAnswer } from "../../../kit/answers.js";
import { definedOnly } from "../../../kit/defined-only.js";
import { askDirectly } from "../../../kit/direct-http.js";
import { formatNodes } from "../../../kit/env.js";
import { environmentError, messageOf } from "../../../kit/errors.js";
import { sum } from "../../../kit/numbers.js";
import { waitUntil } from "../../stores/deciding.js";
import type { ServiceDescription, StorePlace } from "../../target-types.js";

const ID = "envoy-ratelimit";

export const HEALTH_PATH = "/healthcheck";
export const JSON_PATH = "/json";

/** Keys of descriptors: with the quota of the limits, and with none. */
export const KEYS = { standard: "user", exhausted: "exhausted" } as const;

const NONCE_LENGTH = 8;
/**
 * The domain of this run alone. It is short, because it is a part of each key in the store.
 */
export const domainOf = (nonce: string): string => `bench-${nonce.slice(0, NONCE_LENGTH)}`;

export const noLimit = (domain: string): string =>
  `the service has no limit for the domain ${domain}: it would admit everything`;

/** Windows by their length in seconds. */
const UNITS: Readonly<Record<number, string>> = {
  1: "second",
  60: "minute",
  3600: "hour",
  86400: "day",
};

const FOLDER = "ratelimit";

/**
 * What the service's library prints of a variable that it cannot read
 * (github.com/kelseyhightower/envconfig).
 */
const REFUSED =
  /envconfig\.Process: assigning (?<name>[A-Z0-9_]+) to \w+: converting .* to type (?<type>[\w.]*\w)/;
const TYPES: Readonly<Record<string, string>> = {
  bool: "true or false",
  int: "a whole number",
  int32: "a whole number",
  int64: "a whole number",
  uint32: "a whole number from 0",
  uint64: "a whole number from 0",
  float32: "a number",
  float64: "a number",
  "time.Duration": "a time, e.g. 75us or 2s",
};

/**
 * Settings that the harness needs as they are, and the store's address. The others are the user's.
 */
const RESERVED =
  /^((GRPC_|DEBUG_|PROMETHEUS_|)(HOST|PORT|ADDR)|(GRPC_)?UNIX_SOCKET|RUNTIME_\w+|CONFIG_TYPE|BACKEND_TYPE|USE_(STATSD|PROMETHEUS)|DISABLE_STATS|STATS_FLUSH_INTERVAL|LOCAL_CACHE_SIZE_IN_BYTES|(REDIS_(PERSECOND_)?(URL|TYPE|SOCKET_TYPE|AUTH|TLS\w*))|REDIS_PERSECOND|MEMCACHE_(HOST_PORT|SRV\w*)|EXPIRATION_JITTER_MAX_SECONDS|(GLOBAL_)?SHADOW_MODE)$/;

/** The files with the certificates for the store. */
const TLS_FILES = { ca: "store-ca.pem", cert: "store-cert.pem", key: "store-key.pem" } as const;

/**
 * The addresses and credentials of the store as settings.
 * @param files folder of the service's files
 */
function storeSettings(
  { store, topology, nodes, access = {} }: StorePlace,
  files: string,
): Record<string, string> {
  const addresses = formatNodes(nodes);
  if (store === "memcached") return { BACKEND_TYPE: "memcache", MEMCACHE_HOST_PORT: addresses };
  const { username = "default", password, tls } = access;
  const settings: Record<string, string> = {
    BACKEND_TYPE: "redis",
    REDIS_SOCKET_TYPE: "tcp",
    REDIS_TYPE: topology === "standalone" ? "SINGLE" : "CLUSTER",
    REDIS_URL: addresses,
  };
  if (password) settings.REDIS_AUTH = `${username}:${password}`;
  if (tls) settings.REDIS_TLS = "true";
  if (tls?.ca) settings.REDIS_TLS_CACERT = join(files, TLS_FILES.ca);
  if (tls?.cert) settings.REDIS_TLS_CLIENT_CERT = join(files, TLS_FILES.cert);
  if (tls?.key) settings.REDIS_TLS_CLIENT_KEY = join(files, TLS_FILES.key);
  return settings;
}

const REQUEST_TIMEOUT_MS = 2_000;

/** @throws Error when there is no answer in time */
const ask = ({ host, port }: { host: string; port: number }, path: string, body?: string) =>
  askDirectly(
    `http://${host}:${port}${path}`,
    definedOnly({ timeout_ms: REQUEST_TIMEOUT_MS, body }),
  );

const requestText = (domain: string, keys: readonly string[]): string =>
  JSON.stringify({
    domain,
    descriptors: keys.map((key) => ({ entries: [{ key, value: "trial" }] })),
  });

const statusesSchema = z.object({
  statuses: z
    .array(z.object({ currentLimit: z.record(z.string(), z.unknown()).nullish() }))
    .default([]),
});

/** @throws environmentError for an answer of something else */
function statusesIn(text: string): z.infer<typeof statusesSchema>["statuses"] {
  try {
    return parseAnswer(statusesSchema, text).statuses;
  } catch (error) {
    throw environmentError(
      `${ID}: its answer to POST ${JSON_PATH} does not fit: ${messageOf(error)}`,
    );
  }
}

/**
 * Whether the service that this connection reaches has limits for both keys.
 * @throws Error when it does not answer
 */
async function hasLimits(place: ServiceSpec): Promise<boolean> {
  const keys = Object.values(KEYS);
  const { status, text } = await ask(place, JSON_PATH, requestText(domainOf(place.nonce), keys));
  if (status !== 200 && status !== 429)
    throw new Error(`it answered ${status} to POST ${JSON_PATH}: ${text.trim()}`);
  return keys.every((_, index) => statusesIn(text)[index]?.currentLimit);
}

/** Tried connections: a service shares its port silently, and the system deals connections out. */
const TRIED_CONNECTIONS = 16;

async function requireOwnAnswers(place: ServiceSpec): Promise<void> {
  let answers = 0;
  for (let attempt = 0; attempt < TRIED_CONNECTIONS; attempt++) {
    if (await hasLimits(place)) answers++;
  }
  if (answers === TRIED_CONNECTIONS) return;

  const address = `${place.host}:${place.port}`;
  if (answers === 0)
    throw environmentError(`${ID} at ${address}: ${noLimit(domainOf(place.nonce))}`);
  throw environmentError(
    `another service shares the port of ${ID} at ${address}: ${TRIED_CONNECTIONS - answers} of ${TRIED_CONNECTIONS} connections reached it; end it`,
  );
}

const metricsPlace = ({ host, port, ports }: ServiceSpec) => ({
  host,
  port: ports?.prometheus ?? port,
});

/** A service without this domain counts that it was asked for it, and does not ask the store. */
const MARKER = "reading";
const markerName = `ratelimit_service_rate_limit_${MARKER}_domain_not_found`;
const FLUSH_INTERVAL_MS = 100;
const FLUSHED_WITHIN_MS = 5_000;

/**
 * Reads the values of metrics by name and labels.
 * @throws environmentError when they cannot be read
 */
async function metrics(place: ServiceSpec): Promise<Map<string, number>> {
  const { status, text } = await ask(metricsPlace(place), "/metrics");
  if (status !== 200)
    throw environmentError(`${ID}: its counters cannot be read: status ${status}`);
  return new Map(
    text.split("\n").flatMap((line) => {
      const { name = "", value } =
        /^(?<name>[a-z][^ ]*) (?<value>[\d.e+]+)$/i.exec(line)?.groups ?? {};
      return value === undefined ? [] : [[name, Number(value)] as const];
    }),
  );
}

/** Counts something and waits for it. Counters appear late, those of one moment together. */
async function waitForFlush(place: ServiceSpec): Promise<Map<string, number>> {
  const markersBefore = (await metrics(place)).get(markerName) ?? 0;
  await ask(place, JSON_PATH, requestText(MARKER, [KEYS.standard]));
  const deadlineMs = performance.now() + FLUSHED_WITHIN_MS;
  for (;;) {
    const after = await metrics(place);
    if ((after.get(markerName) ?? 0) > markersBefore) return after;
    if (performance.now() > deadlineMs)
      throw environmentError(`${ID}: its counters did not appear within ${FLUSHED_WITHIN_MS} ms`);
    await sleep(FLUSH_INTERVAL_MS / 4);
  }
}

export const envoyRatelimit: ServiceDescription = {
  id: ID,
  program: "ratelimit",
  withoutVersionFlag: true,
  image: { name: "envoyproxy/ratelimit:3fb70258", variable: "ENVOY_RATELIMIT_IMAGE" },
  ports: ["grpc", "debug", "prometheus"],
  reserved: RESERVED,
  unsupportedReason({ window_s, block_s }) {
    if (block_s > 0) return `${ID} has no block duration of its own (${block_s} s was requested)`;
    if (window_s in UNITS) return undefined;
    return `${ID} has windows of 1, 60, 3600 and 86400 s alone (${window_s} s was requested)`;
  },
  files({ points, window_s }: Limits, nonce, access) {
    const limit = (quota: number) => `{unit: ${UNITS[window_s]}, requests_per_unit: ${quota}}`;
    const descriptor = (key: string, quota: number) => [
      `  - key: ${key}`,
      `    rate_limit: ${limit(quota)}`,
    ];
    return {
      [`${FOLDER}/config/bench.yaml`]: [
        `domain: ${domainOf(nonce)}`,
        "descriptors:",
        ...descriptor(KEYS.standard, points),
        ...descriptor(KEYS.exhausted, 0),
        "",
      ].join("\n"),
      ...Object.fromEntries(
        (["ca", "cert", "key"] as const).flatMap((member) => {
          const pem = access?.tls?.[member];
          return pem ? [[TLS_FILES[member], pem]] : [];
        }),
      ),
    };
  },
  environment: ({ bind, port, ports, files }, place) => ({
    RUNTIME_ROOT: files,
    RUNTIME_SUBDIRECTORY: FOLDER,
    RUNTIME_WATCH_ROOT: "false",
    LOG_LEVEL: "warn",
    // Keys expire when their window ends, as on every other limiter.
    EXPIRATION_JITTER_MAX_SECONDS: "0",
    // Denials of exhausted keys reach the store, too.
    LOCAL_CACHE_SIZE_IN_BYTES: "0",
    USE_STATSD: "false",
    USE_PROMETHEUS: "true",
    PROMETHEUS_ADDR: `${bind}:${ports.prometheus}`,
    STATS_FLUSH_INTERVAL: `${FLUSH_INTERVAL_MS}ms`,
    HOST: bind,
    PORT: String(port),
    GRPC_HOST: bind,
    GRPC_PORT: String(ports.grpc),
    DEBUG_HOST: bind,
    DEBUG_PORT: String(ports.debug),
    ...storeSettings(place, files),
  }),
  refusedSetting(lines) {
    const { name, type } = lines.map((line) => REFUSED.exec(line)?.groups).find(Boolean) ?? {};
    return name && type ? { name, takes: TYPES[type] ?? `a Go ${type}` } : undefined;
  },
  async ready(place, deadlineMs) {
    await waitUntil(`service ${ID}`, deadlineMs, async () => {
      const { status, text } = await ask(place, HEALTH_PATH);
      if (status !== 200)
        return `GET ${HEALTH_PATH} answers ${status} ${text.trim().slice(0, 100)}`;
      await metrics(place);
      return undefined;
    });
    await requireOwnAnswers(place);
  },
  async read(place) {
    // The first may appear with a flush that began before the last decisions; the second cannot.
    await waitForFlush(place);
    const counters = await waitForFlush(place);
    const sumOf = (counter: string): number => {
      const prefix = `ratelimit_service_rate_limit_${counter}{domain="${domainOf(place.nonce)}"`;
      // A counter appears with its first decision.
      return sum(
        [...counters].filter(([name]) => name.startsWith(prefix)).map(([, value]) => value),
      );
    };
    const startTime = counters.get("process_start_time_seconds");
    return {
      ...definedOnly({ run_id: startTime === undefined ? undefined : String(startTime) }),
      decisions: sumOf("total_hits"),
      allowed: sumOf("within_limit"),
      limited: sumOf("over_limit"),
    };
  },
};
