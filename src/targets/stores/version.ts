import { stores } from "./index.js";

/** A field of an INFO answer. */
function field(info: string, name: string): string | undefined {
  return new RegExp(`^${name}:(\\S+)`, "m").exec(info)?.[1];
}

/**
 * The version of the store that was asked for, from the INFO answers of its nodes; several versions are joined.
 * Valkey also prints a redis_version (the Redis it is compatible with), so a Redis is only one that does not name
 * itself otherwise.
 * @param store id of the store that was asked for
 * @throws Error when a node is another kind of store
 */
export function versionFromInfo(store: string, answers: readonly string[]): string {
  const versions = answers.map((info) => {
    const found = stores.find(({ versionField }) => versionField && field(info, versionField));
    const version = found && field(info, found.versionField);
    if (!version) throw new Error("the store's INFO names no version");
    if (found.id !== store) throw new Error(`it is ${found.id} ${version}, but ${store} was asked for`);
    return version;
  });
  return [...new Set(versions)].join(", ");
}
