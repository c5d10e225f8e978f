import { delimiter } from "node:path";
import { z } from "zod";
import type { Environment } from "./env.js";
import { usageError } from "./errors.js";

/** What a plugin was, as it was loaded. */
export const pluginFactsSchema = z.strictObject({
  /** Of its file or folder, without the way to it. */
  name: z.string().min(1).max(255),
  /** Of the file's bytes; of a folder, over the list of its files with the sha256 of each. */
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  /** Of a folder's package.json; absent for a file. */
  version: z.string().max(100).optional(),
});
export type PluginFacts = z.infer<typeof pluginFactsSchema>;

const pathsSchema = z.array(z.string().min(1).max(4096));

/** The paths in PLUGINS: a JSON list, or as in PATH. @throws usageError when it begins like a list and is none */
export const decodePlugins = ({ PLUGINS: text = "" }: Environment): string[] => pluginsIn(text, delimiter);

/** @throws usageError when it begins like a list and is none */
export function pluginsIn(text: string, separator: string): string[] {
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

/** The environment that makes a program load these. */
export function encodePlugins(paths: readonly string[] = []): Record<string, string> {
  return paths.length > 0 ? { PLUGINS: JSON.stringify(paths) } : {};
}
