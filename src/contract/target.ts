import { z } from "zod";
import { definedOnly } from "../kit/defined-only.js";
import { usageError } from "../kit/errors.js";

/** An id, e.g. of a client, store, service, limiter or traffic: safe in file names and in argv. */
export const idSchema = z.string().regex(/^[a-z0-9][a-z0-9.-]{0,39}$/);

/**
 * An id in a target's text, with the version of its library if the text names one: `id[~version]`.
 */
export interface VersionedId {
  id: string;
  /** The exact version, e.g. `5.6.1`. */
  version?: string;
}

/**
 * The parts of the text `client[~version][@store[~version]][:topology][+option[~version]…]`,
 * without any defaults.
 */
export interface TargetText {
  client: string;
  version?: string;
  store?: string;
  /** The tag of an image, or the name of one of several programs. */
  storeVersion?: string;
  topology?: string;
  /** The options, sorted and without duplicates. */
  options: VersionedId[];
}

/**
 * What decides: a library in the server, a module in the store, a service, the server's own
 * memory, or an app that is not ours and discloses nothing.
 */
export const deciders = ["library", "module", "service", "in-process", "app", "nothing"] as const;
export type Decider = (typeof deciders)[number];

/**
 * How a limiter counts. A fixed window may begin with a key's first hit, or be aligned to the
 * clock.
 */
export const algorithms = [
  "fixed window",
  "aligned window",
  "sliding window",
  "sliding log",
  "token bucket",
  "GCRA",
  "none",
] as const;
export type Algorithm = (typeof algorithms)[number];

/**
 * A target with all defaults filled in. `text` is the full form, which is part of the
 * configuration's hash.
 */
export const targetSchema = z.strictObject({
  text: z.string().max(200),
  label: z.string().max(200),
  client: idSchema,
  /** The requested version. It is absent for the version that the project installs. */
  client_version: z.string().max(40).optional(),
  store: idSchema,
  /** The requested version. `8.1` is any 8.1.x. */
  store_version: z.string().max(40).optional(),
  topology: idSchema,
  limiter: idSchema,
  /** The requested version of the limiter's library. */
  limiter_version: z.string().max(40).optional(),
  options: z.array(idSchema),
  decided_by: z.enum(deciders),
  algorithm: z.enum(algorithms).optional(),
  module: idSchema.optional(),
  service: idSchema.optional(),
  /**
   * The version of Node in which the servers run on this machine. It is absent for the version that
   * the project uses.
   */
  node: z.string().max(40).optional(),
  /**
   * The load program that makes the calls in the client's place, so that the target is a control.
   */
  program: idSchema.optional(),
  /** The web framework of the server. It is absent for Fastify. */
  framework: idSchema.optional(),
  /** Whether it runs the one script for all clients instead of its own. */
  same_script: z.literal(true).optional(),
  /** The option by which the client has other settings than those that all clients share. */
  settings: idSchema.optional(),
  /** Whether the store that the campaign starts for it talks over TLS. */
  encrypted: z.literal(true).optional(),
  /** Label of the target that it repeats. What differs between the two is the host (M31). */
  copy_of: z.string().max(200).optional(),
  /**
   * Whether some decisions are made without the store or the service, e.g. from a local cache of
   * denials.
   */
  decides_locally: z.literal(true).optional(),
});
export type Target = z.infer<typeof targetSchema>;

/**
 * Whether a store program keeps the counters. `memory` keeps them in the server, `none` has
 * none.
 */
export const usesStore = ({ store }: Pick<Target, "store">): boolean =>
  store !== "memory" && store !== "none";

const ID = "[a-z0-9][a-z0-9.-]{0,39}";
/**
 * What may follow the name. It is wider than a version, because an invalid version has its own
 * error message.
 */
const TILDE = "~[^~@:+]{0,60}";
const TARGET = new RegExp(
  `^(?<client>${ID}(?:${TILDE})?)(?:@(?<store>${ID}(?:${TILDE})?))?(?::(?<topology>${ID}))?(?<options>(?:\\+${ID}(?:${TILDE})?)*)$`,
);
const PART = new RegExp(`^${ID}(?:${TILDE})?$`);
/** Exactly one version, because a range or a tag may mean another one tomorrow. */
const VERSION = /^(?=.{5,40}$)\d+\.\d+\.\d+(?:-[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?$/;

function partOf(text: string): VersionedId {
  const [id = "", version] = text.split("~");
  if (version === undefined) return { id };
  if (VERSION.test(version)) return { id, version };
  throw usageError(
    `${JSON.stringify(text.slice(0, 80))}: give one exact version after ~, e.g. ${id}~1.2.3, not a range or a tag`,
  );
}

const LABEL = /^[0-9A-Za-z][0-9A-Za-z._-]{0,39}$/;

/** Reads `store[~version]`. @throws usageError for what can be no tag of an image */
export function parseStoreText(text: string): VersionedId {
  const [id = "", version] = text.split("~");
  if (!idSchema.safeParse(id).success || (version !== undefined && !LABEL.test(version)))
    throw usageError(
      `store ${JSON.stringify(text.slice(0, 80))} is not of the form name[~version], e.g. valkey~8.1`,
    );
  return definedOnly({ id, version });
}

export const storeProgram = ({
  store,
  store_version,
}: Pick<Target, "store" | "store_version">): string => partText(store, store_version);

export const nodeProgram = (version: string): string => partText("node", version);

/**
 * Whether the versions of the nodes fit a requested label. `8.1` is any 8.1.x, a label that
 * is no version is only a name, and what is not known contradicts nothing.
 * @param seen versions of the nodes, separated by commas
 */
export function isRequestedVersion(label: string, seen: string): boolean {
  const number = /^\d+(?:\.\d+)*/.exec(label)?.[0];
  if (number === undefined) return true;
  return seen
    .split(", ")
    .every((version) => !/^\d/.test(version) || `${version}.`.startsWith(`${number}.`));
}

export const partText = (id: string, version?: string): string =>
  version ? `${id}~${version}` : id;

/**
 * Reads `id[~version]`.
 * @param what the part's name for messages
 * @throws usageError when the text has another form
 */
export function parsePart(partName: string, text: string): VersionedId {
  if (PART.test(text)) return partOf(text);
  throw usageError(
    `${partName} ${JSON.stringify(text.slice(0, 80))} is not of the form name[~version]`,
  );
}

function optionsOf(texts: readonly string[]): VersionedId[] {
  const options = [...new Set(texts)].map(partOf).sort((a, b) => (a.id < b.id ? -1 : 1));
  const twice = options.find(({ id }, index) => options[index + 1]?.id === id);
  if (twice) throw usageError(`+${twice.id} is given in two versions: those are two targets`);
  return options;
}

/** Reads the text form of a target. @throws usageError */
export function parseTargetText(text: string): TargetText {
  const parts = TARGET.exec(text)?.groups;
  if (!parts?.client) {
    throw usageError(
      `target ${JSON.stringify(text.slice(0, 80))} is not of the form client[~version][@store[~version]][:topology][+option], e.g. ioredis@valkey:cluster`,
    );
  }

  const { id, version } = partOf(parts.client);
  const store = parts.store ? parseStoreText(parts.store) : undefined;

  return definedOnly({
    client: id,
    version,
    store: store?.id,
    storeVersion: store?.version,
    topology: parts.topology,
    options: optionsOf((parts.options ?? "").split("+").filter(Boolean)),
  });
}

export function formatTargetText({
  client,
  version,
  store,
  storeVersion,
  topology,
  options,
}: TargetText): string {
  return [
    partText(client, version),
    store ? `@${partText(store, storeVersion)}` : "",
    topology ? `:${topology}` : "",
    ...options.map((option) => `+${partText(option.id, option.version)}`),
  ].join("");
}

/** The target's label in file names, in which dashes replace `~`, `@`, `:`, `+` and `/`. */
export const targetFileName = (label: string): string => label.replaceAll(/[~@:+/]/g, "-");
