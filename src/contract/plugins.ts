import { delimiter } from "node:path";
import { z } from "zod";
import type { Environment } from "../kit/env.js";
import { usageError } from "../kit/errors.js";

/** The schema of a function of this type. Its parameters cannot be checked. */
export const functionOf = <Type extends (...parameters: never[]) => unknown>() =>
  z.custom<Type>((value) => typeof value === "function", "must be a function");

export const lineSchema = z
  .string()
  .regex(/^[^\n]{1,200}$/, "must be one line of at most 200 characters");

/** The type of objects with this shape. An optional member is absent, and never undefined. */
export type Shaped<Shape extends z.ZodRawShape> = Exact<z.infer<z.ZodObject<Shape>>>;
type Exact<Members> = {
  [Name in keyof Members]: object extends Pick<Members, Name>
    ? Exclude<Members[Name], undefined>
    : Members[Name];
};

const share = z.number().min(0).max(1);
export const traceSummarySchema = z.strictObject({
  /** The checksum of the file as the user gave it. */
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  lines: z.int().min(1),
  keys: z.int().min(1),
  span_s: z.number().min(0),
  /**
   * The mean rate, or 0 where all requests came at once. The speed of a replay is its rate divided
   * by this.
   */
  rate_per_second: z.number().min(0),
  /** Shares of the requests that the keys with the most have. */
  top_shares: z.strictObject({ top_1: share, top_10: share, top_100: share }),
});
export type TraceSummary = z.infer<typeof traceSummarySchema>;

export const pluginIdentitySchema = z.strictObject({
  name: z.string().min(1).max(255),
  /** The checksum of the file, or of the list of the folder's files with their checksums. */
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  /** The version in a folder's package.json. It is absent for a file. */
  version: z.string().max(100).optional(),
  trace: traceSummarySchema.optional(),
});
export type PluginIdentity = z.infer<typeof pluginIdentitySchema>;

const pathsSchema = z.array(z.string().min(1).max(4096));

/**
 * Reads the paths in PLUGINS, which are a JSON list, or separated as in PATH.
 * @throws usageError for an invalid JSON list
 */
export const decodePlugins = ({ PLUGINS: text = "" }: Environment): string[] =>
  parsePluginPaths(text, delimiter);

export function parsePluginPaths(text: string, separator: string): string[] {
  if (!text.startsWith("[")) return text.split(separator).filter(Boolean);
  try {
    return pathsSchema.parse(JSON.parse(text));
  } catch (error) {
    throw usageError(
      `PLUGINS=${JSON.stringify(text.slice(0, 60))} is not a JSON list of paths, e.g. ["/home/me/my-client.js"]`,
      { cause: error },
    );
  }
}

/** The environment variable with which a program loads these plugins. */
export const encodePlugins = (paths: readonly string[] = []): Record<string, string> =>
  paths.length > 0 ? { PLUGINS: JSON.stringify(paths) } : {};
