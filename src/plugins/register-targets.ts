import { z } from "zod";
import { idSchema } from "../contract/target.js";
import { clients } from "../targets/clients/index.js";
import { limiters } from "../targets/limiters/index.js";
import { options } from "../targets/options.js";
import { findLimiter, findStore, findTopology } from "../targets/resolve.js";
import { stores } from "../targets/stores/index.js";
import { groups } from "../targets/target-groups.js";
import { clientShape, limiterShape, optionShape, storeShape } from "../targets/target-types.js";
import type { LoadedPlugin } from "./load.js";
import { addToList, checked, forEachMember } from "./validation.js";

/** A list of ids that `find` knows. It throws for any other. */
const knownIds = <Ids extends z.ZodType<readonly string[]>>(
  ids: Ids,
  find: (id: string) => unknown,
) =>
  ids.superRefine((all, context) => {
    for (const id of all) {
      try {
        find(id);
      } catch (error) {
        context.addIssue({ code: "custom", message: `: ${(error as Error).message}` });
      }
    }
  });

/** A store of a plugin, which runs a program by one of the project's engines. */
const storeSchema = z.strictObject({
  ...storeShape,
  engine: z.string().superRefine((engine, context) => {
    const engines = stores.flatMap((store) => store.engine ?? []);
    if (!engines.includes(engine)) {
      const valid = [...new Set(engines)].join(", ");
      context.addIssue({
        code: "custom",
        message: `must be one of the project's engines: ${valid}`,
      });
    }
  }),
  program: storeShape.program.unwrap(),
  topologies: knownIds(storeShape.topologies.unwrap(), findTopology).optional(),
});

const pluginClientShape = {
  ...clientShape,
  stores: knownIds(clientShape.stores, findStore),
  topologies: knownIds(clientShape.topologies, findTopology),
  control: z.literal(false, "must be false: a control is the project's own"),
};
/** The members of a client that an option replaces. */
const replaced = z.strictObject(pluginClientShape).partial();
const clientSchema = z.strictObject({
  ...pluginClientShape,
  sameScript: replaced.optional(),
  ownSettings: z.strictObject({ defaults: replaced, tuned: replaced }).optional(),
});

const limiterSchema = z.strictObject(limiterShape);
const optionSchema = z.strictObject(optionShape);

/** Ids that parts of a run already have. */
const RESERVED_STORES = ["server", "loadtest"];

/**
 * Registers stores alone, for a program that knows no clients.
 * @throws usageError naming plugin and member
 */
export function registerStores(plugins: readonly LoadedPlugin[]): void {
  forEachMember(plugins, "stores", storeSchema, (name, store) => {
    if (store.compatibleWith !== undefined)
      checked(
        name,
        knownIds(z.array(idSchema), findStore),
        [store.compatibleWith],
        ["stores", store.id, "compatibleWith"],
      );
    addToList(name, "store", stores, store, RESERVED_STORES);
  });
}

/**
 * Registers all that targets consist of. A client may name a store or limiter of any plugin.
 * @throws usageError naming plugin and member
 */
export function registerTargets(plugins: readonly LoadedPlugin[]): void {
  registerStores(plugins);
  forEachMember(plugins, "limiters", limiterSchema, (name, limiter) =>
    addToList(name, "limiter", limiters, limiter),
  );
  forEachMember(plugins, "options", optionSchema, (name, option) =>
    addToList(name, "option", options, option),
  );
  forEachMember(plugins, "clients", clientSchema, (name, client) => {
    checked(
      name,
      knownIds(z.array(idSchema), findLimiter),
      [client.limiter],
      ["clients", client.id, "limiter"],
    );
    addToList(name, "client", clients, client, Object.keys(groups));
  });
}
