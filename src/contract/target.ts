import { z } from "zod";
import { usageError } from "./errors.js";

/** An id of a client, store, topology, limiter, option, traffic or workload: safe in file names and in argv. */
export const idSchema = z.string().regex(/^[a-z0-9][a-z0-9.-]{0,39}$/);

/** What the text `client[~version][@store][:topology][+option…]` says, before any default is filled in. */
export interface TargetText {
  client: string;
  version?: string;
  store?: string;
  topology?: string;
  /** Sorted, each once. */
  options: string[];
}

/** A target with every part decided. `text` is the full form and goes into the configuration's hash. */
export const targetSchema = z.strictObject({
  text: z.string().max(200),
  label: z.string().max(200),
  client: idSchema,
  client_version: z.string().max(40).optional(),
  store: idSchema,
  topology: idSchema,
  limiter: idSchema,
  options: z.array(idSchema),
});
export type Target = z.infer<typeof targetSchema>;

const ID = "[a-z0-9][a-z0-9.-]{0,39}";
const TARGET = new RegExp(
  `^(?<client>${ID})(?:~(?<version>[0-9A-Za-z.-]{1,40}))?(?:@(?<store>${ID}))?(?::(?<topology>${ID}))?(?<options>(?:\\+${ID})*)$`,
);

/**
 * Reads the text form of a target.
 * @throws usageError when the text does not follow the grammar
 */
export function parseTargetText(text: string): TargetText {
  const found = TARGET.exec(text)?.groups;
  if (!found?.client) {
    throw usageError(
      `target ${JSON.stringify(text.slice(0, 80))} is not of the form client[~version][@store][:topology][+option], e.g. ioredis@valkey:cluster`,
    );
  }
  return {
    client: found.client,
    ...(found.version ? { version: found.version } : {}),
    ...(found.store ? { store: found.store } : {}),
    ...(found.topology ? { topology: found.topology } : {}),
    options: [...new Set(found.options?.split("+").filter(Boolean))].sort(),
  };
}

/** The target's label with `~ @ : + /` as dashes: how it stands in file names. */
export function targetFileName(label: string): string {
  return label.replaceAll(/[~@:+/]/g, "-");
}
