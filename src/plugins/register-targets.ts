import { z } from "zod";
import { idSchema } from "../contract/target.js";
import { clients } from "../targets/clients/index.js";
import { groups } from "../targets/groups.js";
import { limiters } from "../targets/limiters/index.js";
import { options } from "../targets/options.js";
import { findLimiter, findStore, findTopology } from "../targets/resolve.js";
import type { ClientDescription, LimiterDescription, OptionDescription } from "../targets/types.js";
import type { LoadedPlugin } from "./load.js";
import { addToList, checked, functionSchema, lineSchema } from "./validation.js";

const ids = z.array(idSchema, "must be a list of ids").min(1);

/** Ids for which `find` does not throw. */
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

const flexibleSchema = z.strictObject({
  className: z.string().min(1),
  options: z.record(z.string(), z.unknown()).optional(),
  script: z
    .union([
      z.strictObject({ kind: z.enum(["eval", "evalsha"]) }),
      z.strictObject({ kind: z.literal("fcall"), function: z.string() }),
    ])
    .optional(),
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
  handleApi: z.literal("ioredis").optional(),
  autoPipelining: functionSchema,
  open: functionSchema,
};
const clientSchema = z.strictObject({
  ...clientShape,
  sameScript: z.strictObject(clientShape).partial().optional(),
});

const limiterSchema = z.strictObject({
  id: idSchema,
  package: z.string().optional(),
  unsupportedReason: functionSchema.optional(),
  lacks: functionSchema.optional(),
  create: functionSchema,
});

const optionSchema = z.strictObject({ id: idSchema, summary: lineSchema, apply: functionSchema });

/**
 * Registers clients, limiters and options. A client may name a limiter of any plugin.
 * @throws usageError naming the plugin and the member
 */
export function registerTargets(plugins: readonly LoadedPlugin[]): void {
  const each = (
    kind: "limiters" | "options" | "clients",
    schema: z.ZodType,
    register: (name: string, member: unknown) => void,
  ) => {
    for (const { displayName, members } of plugins) {
      for (const [index, member] of (members[kind] ?? []).entries()) {
        checked(displayName, schema, member, [kind, index]);
        register(displayName, member);
      }
    }
  };
  each("limiters", limiterSchema, (name, member) =>
    addToList(name, "limiter", limiters, member as LimiterDescription),
  );
  each("options", optionSchema, (name, member) =>
    addToList(name, "option", options, member as OptionDescription),
  );
  each("clients", clientSchema, (name, member) => {
    const client = member as ClientDescription;
    checked(name, knownIds(findLimiter), [client.limiter], ["clients", client.id, "limiter"]);
    addToList(name, "client", clients, client, Object.keys(groups));
  });
}
