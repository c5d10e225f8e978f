import { z } from "zod";
import { evidenceNames } from "../contract/store.js";
import { algorithms, idSchema } from "../contract/target.js";
import { clients } from "../targets/clients/index.js";
import { groups } from "../targets/groups.js";
import { limiters } from "../targets/limiters/index.js";
import { options } from "../targets/options.js";
import { findLimiter, findStore, findTopology } from "../targets/resolve.js";
import { stores } from "../targets/stores/index.js";
import type {
  ClientDescription,
  LimiterDescription,
  OptionDescription,
  StoreDescription,
} from "../targets/types.js";
import type { LoadedPlugin } from "./load.js";
import { addToList, checked, forEachMember, functionSchema, lineSchema } from "./validation.js";

const ids = z.array(idSchema, "must be a list of ids").min(1);

const knownIds = (find: (id: string) => unknown) =>
  ids.superRefine((all, context) => {
    for (const id of all) {
      try {
        find(id);
      } catch (error) {
        context.addIssue({ code: "custom", message: `: ${(error as Error).message}` });
      }
    }
  });

const storeSchema = z.strictObject({
  id: idSchema,
  engine: z.string().superRefine((engine, context) => {
    const engines = stores.flatMap((store) => store.engine ?? []);
    if (!engines.includes(engine)) {
      const valid = [...new Set(engines)].join(", ");
      context.addIssue({ code: "custom", message: `must be one of the project's engines: ${valid}` });
    }
  }),
  program: z.string().regex(/^[\w.+-]{1,100}$/, "must be the name of an executable, without its folder"),
  image: z.strictObject({ name: z.string().min(1), variable: z.string().min(1).optional() }).optional(),
  arguments: z.array(z.string()).optional(),
  topologies: knownIds(findTopology).optional(),
  versionField: z.string().regex(/^\w+$/, "must be the name of a field of INFO").optional(),
  decisionCommands: z.array(z.string().min(1)).optional(),
  compatibleWith: idSchema.optional(),
  withoutEvidence: z.array(z.enum(evidenceNames)).optional(),
});

const flexibleSchema = z.strictObject({
  className: z.string().min(1),
  options: z.record(z.string(), z.unknown()).optional(),
  script: z
    .union([
      z.strictObject({ kind: z.enum(["eval", "evalsha"]) }),
      z.strictObject({ kind: z.literal("fcall"), function: z.string() }),
    ])
    .optional(),
  timeoutMs: z.number().positive().optional(),
});

const clientShape = {
  id: idSchema,
  package: z.string().optional(),
  stores: knownIds(findStore),
  topologies: knownIds(findTopology),
  control: z.literal(false, "must be false: a control is the project's own"),
  survivesStoreRestart: z.boolean(),
  survivesScriptFlush: z.boolean(),
  limiter: idSchema,
  flexible: flexibleSchema.optional(),
  canSkipHandshake: z.literal(true).optional(),
  handleApi: z.enum(["ioredis", "node-redis"]).optional(),
  sendsAgain: z.literal(true).optional(),
  waitsForStore: z.literal(true).optional(),
  unsupportedReason: functionSchema.optional(),
  autoPipelining: functionSchema,
  open: functionSchema,
};
/** Some members of a client, which an option replaces. */
const replaced = z.strictObject(clientShape).partial();
const clientSchema = z.strictObject({
  ...clientShape,
  sameScript: replaced.optional(),
  ownSettings: z.strictObject({ defaults: replaced, tuned: replaced }).optional(),
});

const limiterSchema = z.strictObject({
  id: idSchema,
  package: z.string().optional(),
  summary: lineSchema.optional(),
  algorithm: z.enum(algorithms).optional(),
  atomic: z.boolean().optional(),
  notAtomicOn: ids.optional(),
  decisionCommands: z.array(z.string().min(1)).optional(),
  cannotExhaust: lineSchema.optional(),
  applyTo: functionSchema.optional(),
  takesCost: z.boolean().optional(),
  countKey: functionSchema.optional(),
  unsupportedReason: functionSchema.optional(),
  lacks: functionSchema.optional(),
  create: functionSchema,
});

const optionSchema = z.strictObject({ id: idSchema, summary: lineSchema, apply: functionSchema });

/** Ids that parts already have. */
const RESERVED_STORES = ["server", "loadtest"];

/** Stores alone, for a program that knows no clients. @throws usageError naming plugin and member */
export function registerStores(plugins: readonly LoadedPlugin[]): void {
  forEachMember(plugins, "stores", storeSchema, (name, member) => {
    const store = member as StoreDescription;
    if (store.compatibleWith !== undefined)
      checked(name, knownIds(findStore), [store.compatibleWith], ["stores", store.id, "compatibleWith"]);
    addToList(name, "store", stores, store, RESERVED_STORES);
  });
}

/** A client may name a store or limiter of any plugin. @throws usageError naming plugin and member */
export function registerTargets(plugins: readonly LoadedPlugin[]): void {
  registerStores(plugins);
  forEachMember(plugins, "limiters", limiterSchema, (name, member) =>
    addToList(name, "limiter", limiters, member as LimiterDescription),
  );
  forEachMember(plugins, "options", optionSchema, (name, member) =>
    addToList(name, "option", options, member as OptionDescription),
  );
  forEachMember(plugins, "clients", clientSchema, (name, member) => {
    const client = member as ClientDescription;
    checked(name, knownIds(findLimiter), [client.limiter], ["clients", client.id, "limiter"]);
    addToList(name, "client", clients, client, Object.keys(groups));
  });
}
