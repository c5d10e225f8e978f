import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { StoreDescription } from "../types.js";
import { stores } from "./index.js";

/** The project's folder: the same relative path from the sources and from the build. */
const root = new URL("../../../", import.meta.url);

/**
 * The settings of a store's configuration file as arguments of its program, so that the file is not needed where the
 * program runs. One directive per line; `""` is an empty value.
 * @returns an empty list for a store without a configuration file
 */
export function confArguments({ conf }: StoreDescription): string[] {
  if (conf === undefined) return [];
  return readFileSync(fileURLToPath(new URL(conf, root)), "utf8")
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("#"))
    .flatMap((line) => {
      const [name, ...values] = line.split(/\s+/);
      return [`--${name}`, ...values.map((value) => (value === '""' ? "" : value))];
    });
}

/** The value of a field in an INFO answer. */
function field(info: string, name: string): string | undefined {
  return new RegExp(`^${name}:(\\S+)`, "m").exec(info)?.[1];
}

/**
 * The version of the requested store, from the INFO answers of its nodes; different versions are joined.
 * Valkey also reports a redis_version (the Redis that it is compatible with), so only a store without a valkey_version
 * is Redis.
 * @param store id of the requested store
 * @throws Error when a node is another kind of store
 */
export function versionFromInfo(store: string, answers: readonly string[]): string {
  const versions = answers.map((info) => {
    const found = stores.find(({ versionField }) => versionField && field(info, versionField));
    const version = found && field(info, found.versionField);
    if (!version) throw new Error("the store's INFO names no version");
    if (found.id !== store) throw new Error(`it is ${found.id} ${version}, but ${store} was requested`);
    return version;
  });
  return [...new Set(versions)].join(", ");
}
