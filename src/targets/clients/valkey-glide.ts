import { readdirSync, rmSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import type {
  Batch,
  ClusterBatch,
  GlideClient,
  GlideClientConfiguration,
  GlideClusterClient,
  GlideClusterClientConfiguration,
  GlideReturnType,
  ProtocolVersion,
  Script,
  TimeUnit,
} from "@valkey/valkey-glide";
import type { ClientSettings } from "../../contract/server-api.js";
import type { StoreAccess, StoreTls } from "../../contract/store-url.js";
import { within } from "../../kit/deadline.js";
import { definedOnly } from "../../kit/defined-only.js";
import { ownLibraries } from "../libraries.js";
import { versionFromInfo } from "../stores/resp/resp-version.js";
import type {
  ClientDescription,
  OpenClient,
  OwnSettings,
  StorePlace,
  Tuning,
} from "../target-types.js";
import { isCluster } from "../topologies.js";
import { common, reportedSettings, retried } from "./client-settings.js";
import { shardKeys, singleShardKeys } from "./shard-keys.js";

/** A reply in a transaction, in the form of ioredis. */
type TransactionReply = [error: null, reply: unknown];

/**
 * A transaction as RateLimiterRedis uses it: chained commands, and `exec` resolves with pairs of
 * error and reply.
 */
interface Transaction {
  set(key: string, value: number, unit?: "EX", seconds?: number): Transaction;
  incrby(key: string, by: number): Transaction;
  get(key: string): Transaction;
  pttl(key: string): Transaction;
  exec(): Promise<TransactionReply[]>;
}

/** The methods of an ioredis client that RateLimiterRedis calls, on a glide client. */
interface GlideAsIoredis {
  /**
   * Adds a method `name` that runs the script by EVALSHA, after a SCRIPT LOAD where the store does
   * not have it.
   */
  defineCommand(name: string, definition: { numberOfKeys: number; lua: string }): void;
  multi(): Transaction;
  del(key: string): Promise<number>;
  release(): void;
}

export interface GlideClasses {
  Script: new (code: string) => Script;
  /** Creates an atomic batch of the kind that the client takes. */
  batch(): Batch | ClusterBatch;
}

type Client = Pick<GlideClient | GlideClusterClient, "invokeScript" | "del"> & {
  exec(batch: Batch | ClusterBatch, raiseOnError: boolean): Promise<GlideReturnType[] | null>;
};

/**
 * Makes glide usable as the client of rate-limiter-flexible's RateLimiterRedis. It costs an object
 * and an array per consume.
 */
export function glideAsIoredis(client: Client, { Script, batch }: GlideClasses): GlideAsIoredis {
  const scripts = new Map<string, Script>();
  const shim: GlideAsIoredis & Record<string, unknown> = {
    defineCommand(name, { numberOfKeys, lua }) {
      scripts.get(name)?.release();
      const script = new Script(lua);
      scripts.set(name, script);
      shim[name] = (words: string[]) =>
        client.invokeScript(script, {
          keys: words.slice(0, numberOfKeys),
          args: words.slice(numberOfKeys),
        });
    },
    multi: () => transaction(client, batch()),
    del: (key) => client.del([key]),
    release() {
      for (const script of scripts.values()) script.release();
      scripts.clear();
    },
  };
  return shim;
}

function transaction(client: Client, batch: Batch | ClusterBatch): Transaction {
  const written: Transaction = {
    set(key, value, unit, seconds) {
      const expiry = unit && seconds ? { type: unit as TimeUnit, count: seconds } : undefined;
      batch.set(key, String(value), expiry && { expiry });
      return written;
    },
    incrby(key, by) {
      batch.incrBy(key, by);
      return written;
    },
    get(key) {
      batch.get(key);
      return written;
    },
    pttl(key) {
      batch.pttl(key);
      return written;
    },
    async exec() {
      const replies = await client.exec(batch, true);
      if (!replies) throw new Error("the transaction was not executed");
      return replies.map((reply): TransactionReply => [null, reply]);
    },
  };
  return written;
}

const PACKAGE = "@valkey/valkey-glide";

/**
 * Far more than the connections of any run: above the limit glide rejects at once, it does not
 * queue.
 */
const INFLIGHT_REQUESTS_LIMIT = 100_000;

/** The delay between attempts is fixed. Its formula is `factor × base ^ n`, without jitter. */
const backoff = {
  numberOfRetries: 1,
  factor: common.reconnectDelayMs,
  exponentBase: 1,
  jitterPercent: 0,
};

const sharedSettings: ClientSettings = {
  protocol: "RESP2",
  auto_pipelining: false,
  offline_queue: null,
  auto_resend_unfulfilled_commands: null,
  max_retries_per_request: null,
  request_timeout_ms: common.requestTimeoutMs,
  connect_timeout_ms: common.connectTimeoutMs,
  reconnect_delay_ms: backoff.factor,
  inflight_requests_limit: INFLIGHT_REQUESTS_LIMIT,
  tcp_no_delay: true,
  tcp_keep_alive_ms: null,
  ip_family: null,
  read_from: "primary",
};

const tunedOptions = {
  requestTimeout: common.requestTimeoutMs,
  inflightRequestsLimit: INFLIGHT_REQUESTS_LIMIT,
} as const;

const passedSettings: Readonly<Record<OwnSettings, ClientSettings>> = {
  defaults: { auto_pipelining: false },
  tuned: {
    auto_pipelining: false,
    request_timeout_ms: tunedOptions.requestTimeout,
    inflight_requests_limit: tunedOptions.inflightRequestsLimit,
  },
};

const settingsOf = (settings: OwnSettings | undefined, hello: () => Promise<unknown>) =>
  reportedSettings(sharedSettings, settings && passedSettings[settings], hello);

type Closable = { close(): void };

/** Tries again until the deadline: glide gives up at the first refusal. @throws the last Error */
function attempt<Client extends Closable>(create: () => Promise<Client>): Promise<Client> {
  let lastError = new Error("no answer");
  return retried((leftMs) =>
    within(
      create(),
      leftMs,
      () => lastError,
      (client) => client.close(),
    ).catch((error: Error) => {
      // glide's messages contain line breaks.
      lastError = new Error(error.message.replaceAll(/\s+/g, " "), { cause: error });
      throw lastError;
    }),
  );
}

/**
 * Glide's socket in /tmp stays after `close()` and is shared: it is removed when the process ends.
 */
let removesSocket = false;
function removeSocketAtExit(): void {
  if (removesSocket) return;
  removesSocket = true;
  const socketPrefix = `glide-socket-${process.pid}-`;
  process.once("exit", () => {
    for (const name of readdirSync("/tmp"))
      if (name.startsWith(socketPrefix)) rmSync(`/tmp/${name}`, { force: true });
  });
}

function accessOptions({ username, password, tls }: StoreAccess = {}) {
  return {
    ...definedOnly({
      credentials: password
        ? { ...definedOnly({ username: username || undefined }), password }
        : undefined,
    }),
    useTLS: tls !== undefined,
  };
}

type ConnectionRequest = { clientCert?: Uint8Array; clientKey?: Uint8Array };
interface Configuring {
  configureAdvancedConfigurationBase?(options: unknown, request: ConnectionRequest): void;
}

const presenting = new WeakSet<object>();

/**
 * Its protocol has a certificate of the client, but its options have none (2.5.2). A process has
 * one store.
 */
function presentCertificate(client: object, { cert = "", key = "" }: StoreTls): void {
  const base = Object.getPrototypeOf(client) as Configuring;
  if (presenting.has(base)) return;
  presenting.add(base);
  const configure = base.configureAdvancedConfigurationBase;
  if (!configure) throw new Error("this version cannot present a certificate to the store");
  base.configureAdvancedConfigurationBase = function (options, request) {
    configure.call(this, options, request);
    Object.assign(request, { clientCert: Buffer.from(cert), clientKey: Buffer.from(key) });
  };
}

/**
 * glide ends the process where the user has no home: no HOME, and no entry in the list of users.
 */
function setHome(): void {
  try {
    homedir();
  } catch {
    process.env.HOME = tmpdir();
  }
}

/** @param protocol that of the clients that share their settings */
function optionsOf(
  place: StorePlace,
  settings: OwnSettings | undefined,
  protocol: ProtocolVersion,
) {
  const shared = {
    protocol,
    requestTimeout: common.requestTimeoutMs,
    inflightRequestsLimit: INFLIGHT_REQUESTS_LIMIT,
    connectionBackoff: backoff,
    readFrom: "primary",
  } as const;
  const optionsBySettings = { defaults: {}, tuned: tunedOptions } as const;
  const sharedAdvanced = { connectionTimeout: common.connectTimeoutMs, tcpNoDelay: true };
  const advanced = settings ? undefined : sharedAdvanced;
  const authority = place.access?.tls?.ca;
  return {
    addresses: place.nodes.map(({ host, port }) => ({ host, port })),
    ...(settings ? optionsBySettings[settings] : shared),
    ...accessOptions(place.access),
    advancedConfiguration: {
      ...advanced,
      ...definedOnly({
        tlsAdvancedConfiguration: authority ? { rootCertificates: authority } : undefined,
      }),
    },
  } as const satisfies GlideClientConfiguration & GlideClusterClientConfiguration;
}

/** @param asIoredis whether the handle is for RateLimiterRedis instead of glide's own class */
async function open(
  place: StorePlace,
  { libraries = ownLibraries, settings }: Tuning = {},
  asIoredis = false,
): Promise<OpenClient> {
  setHome();
  const glide = await libraries.load(PACKAGE, () => import("@valkey/valkey-glide"));
  if (asIoredis && !glide.Batch)
    throw new Error("this version has no Batch, which RateLimiterRedis needs");
  glide.Logger.init("off");
  removeSocketAtExit();
  if (place.access?.tls?.cert) presentCertificate(glide.GlideClient.prototype, place.access.tls);

  const options = optionsOf(place, settings, glide.ProtocolVersion.RESP2);
  const { Script } = glide;
  const sections = [glide.InfoOptions.Server];
  const version = libraries.version(PACKAGE);
  if (!isCluster(place.topology)) {
    const client = await attempt(() => glide.GlideClient.createClient(options));
    const shim =
      asIoredis && glideAsIoredis(client, { Script, batch: () => new glide.Batch(true) });
    return {
      handle: shim || client,
      version,
      settings: await settingsOf(settings, () => client.customCommand(["HELLO"])),
      storeVersion: async () => versionFromInfo(place.store, [await client.info(sections)]),
      command: (_key, name, ...parameters) =>
        client.customCommand([name, ...parameters.map(String)]),
      shardKeys: singleShardKeys,
      close: async () => close(client, shim),
    };
  }
  const client = await attempt(() => glide.GlideClusterClient.createClient(options));
  const shim =
    asIoredis && glideAsIoredis(client, { Script, batch: () => new glide.ClusterBatch(true) });
  const ask = (...words: string[]) => client.customCommand(words, { route: "randomNode" });
  return {
    handle: shim || client,
    version,
    settings: await settingsOf(settings, () => ask("HELLO")),
    storeVersion: async () => {
      const answers = await client.info({ sections, route: "allPrimaries" });
      return versionFromInfo(
        place.store,
        typeof answers === "string" ? [answers] : Object.values(answers),
      );
    },
    command: (key, name, ...parameters) =>
      client.customCommand([name, ...parameters.map(String)], {
        route: { type: "primarySlotKey", key },
      }),
    shardKeys: () => shardKeys(ask),
    close: async () => close(client, shim),
  };
}

function close(client: Closable, shim: GlideAsIoredis | false): void {
  if (shim) shim.release();
  client.close();
}

export const valkeyGlide: ClientDescription = {
  id: "valkey-glide",
  package: PACKAGE,
  stores: ["valkey"],
  topologies: ["standalone", "cluster", "cluster-3"],
  control: false,
  survivesStoreRestart: false,
  survivesScriptFlush: false,
  limiter: "rate-limiter-flexible",
  flexible: { className: "RateLimiterValkeyGlide", script: { kind: "fcall", function: "consume" } },
  sameScript: {
    stores: ["valkey", "redis"],
    survivesStoreRestart: true,
    survivesScriptFlush: true,
    flexible: { className: "RateLimiterRedis", script: { kind: "evalsha" } },
    open: (place, tuning) => open(place, tuning, true),
  },
  ownSettings: { defaults: {}, tuned: {} },
  autoPipelining: () =>
    "it has no such setting, its core collects the commands that wait for the socket",
  open: (place, tuning) => open(place, tuning),
};
