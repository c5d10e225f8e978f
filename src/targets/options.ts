import { definedOnly } from "../kit/defined-only.js";
import { DEFAULT_FRAMEWORK, frameworks } from "./frameworks.js";
import { limiters } from "./limiters/index.js";
import { unsupported } from "./limiters/library.js";
import { throttlecrabOptions } from "./limiters/throttlecrab.js";
import { loadPrograms } from "./load-programs/load-programs.js";
import { FAIL_OPEN_AFTER_MS } from "./request-limiter.js";
import { stores } from "./stores/index.js";
import type {
  ClientDescription,
  OptionDescription,
  OwnSettings,
  Separation,
  VariedClient,
} from "./target-types.js";
import { isCluster } from "./topologies.js";

type SeparatingOption = Pick<OptionDescription, "id" | "pattern"> & { separates: Separation };

/** Id of the option that measures a target once more; see `copy`. */
export const COPY = "copy";
/**
 * The option under which every client runs one script, so that client and script can be separated.
 */
export const SAME_SCRIPT = "same-script";
/**
 * What differs between rankings with `+same-script` and without. The report splits the first by the
 * scripts that really ran.
 */
export const SCRIPT = "scripts";
/**
 * What differs between rankings on several web frameworks, which a campaign can be asked to
 * compare.
 */
export const FRAMEWORK = "server's web frameworks";

/** Whether a target is a copy of the one without that option. */
export const isCopy = ({ options: ids }: Readonly<{ options: readonly string[] }>): boolean =>
  ids.includes(COPY);

/** A limiter that a client can have instead of its own. That of a store comes with the store. */
const limiterOptions: readonly OptionDescription[] = limiters.flatMap(
  ({ id, summary = "", applyTo }) => {
    const comesWithStore = stores.some(({ limiter }) => limiter === id);
    return applyTo && !comesWithStore ? [{ id, summary, apply: applyTo }] : [];
  },
);

/**
 * The same script for all clients, which separates the cost of a client from the cost of its
 * script: the script of rate-limiter-flexible for Redis, which runs on Valkey, too. For a client
 * whose class sends it anyway nothing changes.
 */
const sameScript: OptionDescription = {
  id: SAME_SCRIPT,
  summary: "the script of RateLimiterRedis, whatever the client's own class is",
  separates: {
    what: SCRIPT,
    compares: "others",
    words: "one script for all",
    default_words: "each client's own script",
  },
  apply: (client) => {
    if (client.sameScript) return { ...client, ...client.sameScript };

    const otherLimiter =
      client.limiter === "rate-limiter-flexible" ? "" : ` with the limiter ${client.limiter}`;
    return unsupported(
      client,
      `${SAME_SCRIPT}${otherLimiter}`,
      "it runs no script of rate-limiter-flexible",
    );
  },
};

/**
 * Options under which a client has other settings than those that all clients share: rankings never
 * mix them.
 */
const OWN_SETTINGS: readonly OwnSettings[] = ["defaults", "tuned"];

const SETTINGS_WORDS: Readonly<Record<OwnSettings, string>> = {
  defaults: "each library's default settings",
  tuned: "the settings that each library's maintainers recommend",
};

const SETTINGS_SUMMARIES: Readonly<Record<OwnSettings, string>> = {
  defaults: "the client library as it comes: nothing is set but what is needed to connect",
  tuned: "the client as its maintainers recommend it, see docs/clients.md",
};

/** These settings also decide whether commands are pipelined. */
const ownSettings = (id: OwnSettings): OptionDescription => ({
  id,
  summary: SETTINGS_SUMMARIES[id],
  separates: {
    what: "clients' settings",
    compares: "others",
    words: SETTINGS_WORDS[id],
    default_words: "those that all clients share",
  },
  apply(client) {
    if (client.settings)
      return { skip: `${client.id}: +${client.settings} and +${id} exclude each other` };
    if (!client.ownSettings)
      return unsupported(client, id, "it only has the settings that all clients share");

    return {
      ...client,
      ...client.ownSettings[id],
      settings: id,
      autoPipelining: () => `+${id} decides about it`,
      open: (place, tuning) => client.open(place, { ...tuning, settings: id }),
    };
  },
});

const autopipelining: OptionDescription = {
  id: "autopipelining",
  summary: "commands of one turn of the event loop are sent as one pipeline",
  apply(client, topology) {
    const possible = client.autoPipelining(topology);
    if (possible !== true) return unsupported(client, "autopipelining", possible);
    return {
      ...client,
      open: (place, tuning) => client.open(place, { ...tuning, autoPipelining: true }),
    };
  },
};

function withServiceSetting(
  client: ClientDescription,
  id: string,
  setting: Readonly<Record<string, string>>,
): VariedClient {
  if (client.service !== "envoy-ratelimit")
    return unsupported(client, id, "it is an option of the service envoy-ratelimit");
  return { ...client, serviceEnvironment: { ...client.serviceEnvironment, ...setting } };
}

const PIPELINE = /^pipeline-(\d{1,6}us)$/;

/** How long Envoy's service collects commands before it sends them as one write. */
const pipeline: OptionDescription = {
  id: "pipeline-<n>us",
  pattern: PIPELINE,
  summary: "Envoy's service collects commands for n microseconds and sends them as one write",
  apply(client, _topology, id) {
    const varied = withServiceSetting(client, id, {
      REDIS_PIPELINE_WINDOW: PIPELINE.exec(id)?.[1] ?? "",
    });
    if ("skip" in varied) return varied;

    // It is a setting of the service's connections to Redis.
    const [first, ...others] = client.stores.filter((store) => store !== "memcached");
    return first === undefined ? varied : { ...varied, stores: [first, ...others] };
  },
};

const LOCAL_CACHE_BYTES = 16 * 1024 ** 2;

const localCache: OptionDescription = {
  id: "local-cache",
  summary: "Envoy's service denies keys that are over their limit without asking the store",
  apply(client, _topology, id) {
    const varied = withServiceSetting(client, id, {
      LOCAL_CACHE_SIZE_IN_BYTES: String(LOCAL_CACHE_BYTES),
    });
    return "skip" in varied ? varied : { ...varied, decidesLocally: true };
  },
};

/** What an API does that must outlive its store. */
const failOpen: OptionDescription = {
  id: "fail-open",
  summary: `a request is admitted whose decision failed or took longer than ${FAIL_OPEN_AFTER_MS} ms`,
  apply(client) {
    const reason = reasonAgainstFailOpen(client);
    if (reason) return unsupported(client, "fail-open", reason);
    return { ...client, failsOpen: true };
  },
};

function reasonAgainstFailOpen({
  limiter,
  program,
  stores,
}: ClientDescription): string | undefined {
  if (limiter === "none" || stores[0] === "memory") return "it has no store that could fail";
  if (limiter === "insurance-limiter") return "its insurance limiter decides while the store fails";
  return program && `the load program ${program} makes its calls, and not a limiter in Node`;
}

/**
 * Changes nothing: how far a target seems to be from its copy is what a campaign cannot tell apart
 * (M31).
 */
const copy: OptionDescription = {
  id: COPY,
  summary: "the same target once more: how far two equal rows lie apart",
  apply: (client) =>
    client.control ? unsupported(client, COPY, "it is a control itself") : client,
};

const NODE = /^node-(\d+(?:\.\d+){0,2})$/;

export const nodeVersionOf = (ids: readonly string[]): string | undefined =>
  ids.flatMap((id) => NODE.exec(id)?.[1] ?? [])[0];

/** Another Node of this machine runs the server; the other programs of a run keep theirs. */
const node: OptionDescription = {
  id: "node-<version>",
  pattern: NODE,
  summary: "the server runs in that Node of this machine, which --node or --program names",
  separates: { what: "Node version", compares: "itself", words: "in several Node versions" },
  apply: (client, _topology, id) => ({ ...client, node: NODE.exec(id)?.[1] ?? "" }),
};

/** Id of the option that encrypts what server and store say to each other. */
const TLS = "tls";

/** Whether the store that a campaign starts for a target is encrypted. */
export const isEncrypted = ({ options: ids }: Readonly<{ options: readonly string[] }>): boolean =>
  ids.includes(TLS);

/**
 * Only stores that speak RESP can; services and modules of plugins have connections of their own.
 */
const tls: OptionDescription = {
  id: TLS,
  summary: "server and store talk over TLS, with a certificate that is made for the campaign",
  separates: { what: "encryption", compares: "itself", words: "with TLS and without" },
  apply(client, topology) {
    const [first, ...others] = client.stores.filter((id) =>
      stores.some((store) => store.id === id && store.engine === "resp"),
    );
    if (client.control || client.service || first === undefined)
      return unsupported(client, TLS, "it does not talk to a store that speaks RESP");

    if (isCluster(topology))
      return unsupported(
        client,
        TLS,
        `nodes of a ${topology} name each other by addresses, which no certificate holds`,
      );

    return { ...client, stores: [first, ...others] };
  },
};

const PROTOCOLS = { http: "HTTP", grpc: "gRPC", resp: "RESP" } as const;

/**
 * A program without Node makes the calls, so that a limit of Node is told apart from one of the
 * service.
 */
const loadProgramOptions: readonly OptionDescription[] = loadPrograms.map(
  ({ id, summary, protocol }) => ({
    id,
    summary,
    apply(client) {
      if (client.program)
        return { skip: `${client.id}: +${client.program} and +${id} exclude each other` };

      if (client.native?.kind === protocol) return { ...client, program: id };
      return unsupported(
        client,
        id,
        `it calls services over ${PROTOCOLS[protocol]} alone, in the place of a client that does`,
      );
    },
  }),
);

/**
 * The server's routes are those of another web framework. Rankings never mix frameworks unless the
 * user asks for it.
 */
const frameworkOptions: readonly OptionDescription[] = frameworks
  .filter(({ id }) => id !== DEFAULT_FRAMEWORK)
  .map(({ id, summary }) => ({
    id,
    summary,
    separates: {
      what: FRAMEWORK,
      compares: "others",
      words: `on ${id}`,
      value: id,
      default_words: DEFAULT_FRAMEWORK,
    },
    apply(client) {
      if (client.framework)
        return { skip: `${client.id}: +${client.framework} and +${id} exclude each other` };

      if (client.program)
        return unsupported(
          client,
          id,
          `the load program ${client.program} makes its calls, without a server`,
        );

      const limiterFramework = limiters.find((limiter) => limiter.id === client.limiter)?.framework;
      if (limiterFramework && limiterFramework !== id)
        return unsupported(client, id, `${client.limiter} is installed in ${limiterFramework}`);

      return { ...client, framework: id };
    },
  }));

/**
 * The options in the order in which they are applied. Those that replace the limiter come first,
 * then those that replace `open`, then those that extend it.
 */
export const options: readonly OptionDescription[] = [
  ...limiterOptions,
  sameScript,
  ...OWN_SETTINGS.map(ownSettings),
  autopipelining,
  ...throttlecrabOptions,
  pipeline,
  localCache,
  copy,
  ...loadProgramOptions,
  ...frameworkOptions,
  failOpen,
  node,
  tls,
];

/**
 * The options that separate rankings, with how: the only list of them that plan and report have.
 */
export const separating: readonly SeparatingOption[] = options.flatMap(
  ({ id, pattern, separates }) =>
    separates ? [{ ...definedOnly({ id, pattern }), separates }] : [],
);

/** The list entry of each option that separates rankings, among the options of a target. */
export const separationsOf = (
  ids: readonly string[],
  list: readonly SeparatingOption[] = separating,
): readonly { id: string; separates: Separation }[] =>
  list.flatMap((option) => {
    const namedIds = ids.filter((id) => option.pattern?.test(id) ?? id === option.id);
    return namedIds.map((id) => ({ id, separates: option.separates }));
  });
