import { z } from "zod";
import type { Limits } from "../contract/configuration.js";
import { functionOf, type Shaped } from "../contract/plugins.js";
import { idSchema } from "../contract/target.js";
import type { GrpcMethod } from "./clients/grpc-method.js";
import { idList } from "./member-lists.js";
import type { OpenClient, OwnSettings, StorePlace, Tuning } from "./open-client.js";

const flexibleSchema = z.strictObject({
  /** The name of the class, e.g. `RateLimiterValkey`. */
  className: z.string().min(1),
  options: z.record(z.string(), z.unknown()).readonly().optional(),
  /** How the limiter's script reaches the store. It is absent for a class without one. */
  script: z
    .union([
      z.strictObject({ kind: z.enum(["eval", "evalsha"]) }),
      z.strictObject({ kind: z.literal("fcall"), function: z.string() }),
    ])
    .optional(),
  /**
   * The time after which a consume has failed. It is present for a client whose library may never
   * answer.
   */
  timeoutMs: z.number().positive().optional(),
});

/**
 * A class of rate-limiter-flexible, and its options beside the client, the key prefix and the
 * limits.
 */
export type FlexibleUse = z.infer<typeof flexibleSchema>;

const identityShape = {
  id: idSchema,
  /** npm package, of which other versions can be requested. It is absent for the controls. */
  package: z.string().optional(),
  /**
   * A control measures the harness, not a client; it is reported beside the clients and never
   * ranked.
   */
  control: z.boolean(),
};

const supportShape = {
  /** Stores that its limiter's script runs on; the first is the default. */
  stores: idList,
  topologies: idList,
  /**
   * Why its class of rate-limiter-flexible cannot keep these limits. It is absent where it can keep
   * any.
   */
  unsupportedReason: functionOf<(limits: Limits) => string | undefined>().optional(),
};

const limiterUseShape = {
  /** Id of its limiter; `none` admits all. */
  limiter: idSchema,
  /** How rate-limiter-flexible works with this client. It is absent where it does not. */
  flexible: flexibleSchema.optional(),
  /** Set when `handle` has the methods of that library, for limiters that take such an object. */
  handleApi: z.enum(["ioredis", "node-redis"]).optional(),
};

const failureShape = {
  /** Whether its limiter recovers by itself after the store has restarted. */
  survivesStoreRestart: z.boolean(),
  /** Whether its limiter recovers by itself after SCRIPT FLUSH and FUNCTION FLUSH. */
  survivesScriptFlush: z.boolean(),
  /** It sends a command again whose reply was lost, so a consume may count twice. */
  sendsAgain: z.literal(true).optional(),
  /**
   * A consume waits for a store that does not answer, without a bound or for longer than any
   * request.
   */
  waitsForStore: z.literal(true).optional(),
};

const connectionShape = {
  /** It can connect with `Tuning.skipsHandshake`. */
  canSkipHandshake: z.literal(true).optional(),
  /** Whether `+autopipelining` can be switched on in a topology: true, or the reason why not. */
  autoPipelining: functionOf<(topology: string) => true | string>(),
  /** Loads the library and connects. @throws Error when the store cannot be reached */
  open: functionOf<(place: StorePlace, tuning?: Tuning) => Promise<OpenClient>>(),
};

/**
 * What the project's own clients and those of plugins have. All members stand side by side, because
 * an option replaces single ones, whatever their topic is.
 */
export const clientShape = {
  ...identityShape,
  ...supportShape,
  ...limiterUseShape,
  ...failureShape,
  ...connectionShape,
};

/** What a client needs besides its store: a service or a module, and how those are reached. */
interface ClientNeeds {
  /** Id of the service that it calls instead of the store. */
  service?: string;
  serviceEnvironment?: Readonly<Record<string, string>>;
  /** Id of the module that its limiter needs in the store. */
  module?: string;
  storeArguments?: readonly string[];
  /** How a load program without Node makes its calls. It is absent where none can. */
  native?: NativeProtocol;
}

/** What options of the project replace in a client that supports them. */
interface ClientVariants {
  /** The members that `+same-script` replaces. They are absent for a client that runs no script. */
  sameScript?: Partial<ClientDescription>;
  /** It can connect with `Tuning.settings`: the members that each of them replaces. */
  ownSettings?: Readonly<Record<OwnSettings, Partial<ClientDescription>>>;
}

/** What options of the project have chosen. It is absent without such an option. */
interface ClientChoices {
  /** Absent: the settings that all clients share. */
  settings?: OwnSettings;
  /** The version of Node that its servers run in. */
  node?: string;
  /** The id of the load program that takes the client's place. */
  program?: string;
  /** The id of the server's web framework. It defaults to Fastify. */
  framework?: string;
  /** Whether some decisions reach neither store nor service, e.g. because denials are cached. */
  decidesLocally?: boolean;
  /** A request without a decision is admitted. */
  failsOpen?: true;
}

/**
 * A Node library that talks to the store or to a service. Each has a file in `clients/` and a line
 * in its list.
 */
export interface ClientDescription
  extends Shaped<typeof clientShape>,
    ClientNeeds,
    ClientVariants,
    ClientChoices {}

/** A client as an option changes it, or the reason why it does not support the option. */
export type VariedClient = ClientDescription | { skip: string };

/** How any program reaches what decides, with the calls that `LimiterDescription.callOf` makes. */
export type NativeProtocol =
  /** Posts the calls as JSON. `port` is the name of the port, which is the main one by default. */
  | { kind: "http"; path: string; port?: string }
  | { kind: "grpc"; method: GrpcMethod; port: string }
  /** Sends each call as the words of a command. */
  | { kind: "resp"; command(call: object): string[] };
