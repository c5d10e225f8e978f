import type { StoreDescription } from "../../target-types.js";
import { stores } from "../index.js";

/**
 * Servers that are compatible with Redis also report the version of Redis that they are compatible
 * with.
 */
const COMPATIBLE_FIELD = "redis_version";

/**
 * The stores that a server may be, from the fields of its INFO: those with a version field of their
 * own, else those that are told by `redis_version` alone.
 * @param has whether INFO has a field
 */
export function storesByFields(
  has: (field: string) => boolean,
): (StoreDescription & { versionField: string })[] {
  const found = stores.flatMap((store) => {
    const { engine, versionField } = store;
    return engine === "resp" && versionField && has(versionField)
      ? [{ ...store, versionField }]
      : [];
  });
  const own = found.filter(({ versionField }) => versionField !== COMPATIBLE_FIELD);
  return own.length > 0 ? own : found;
}

const field = (info: string, name: string): string | undefined =>
  new RegExp(`^${name}:(\\S+)`, "m").exec(info)?.[1];

/**
 * The version of the requested store, from the INFO answers of its nodes; different versions are
 * joined.
 * @param store id of the requested store
 * @throws Error when a node is another kind of store
 */
export function versionFromInfo(store: string, answers: readonly string[]): string {
  const versions = answers.map((info) => {
    const found = storesByFields((name) => field(info, name) !== undefined);
    const kind = found.find(({ id }) => id === store) ?? found[0];
    const version = kind && field(info, kind.versionField);
    if (!version) throw new Error("the store's INFO names no version");
    if (kind.id !== store)
      throw new Error(`it is ${kind.id} ${version}, but ${store} was requested`);
    return version;
  });
  return [...new Set(versions)].join(", ");
}
