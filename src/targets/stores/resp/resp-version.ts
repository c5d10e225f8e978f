import type { StoreDescription } from "../../target-types.js";
import { stores } from "../index.js";

/**
 * Servers that are compatible with Redis also report the version of Redis that they are compatible
 * with.
 */
const COMPATIBLE_FIELD = "redis_version";

/**
 * The stores that a server may be, from the fields of its INFO: those with a version field
 * of their own, else those that are told by `redis_version` alone.
 * @param has whether INFO has a field
 */
export function storesByFields(
  has: (field: string) => boolean,
): (StoreDescription & { versionField: string })[] {
  const possibleStores = stores.flatMap((store) => {
    const { engine, versionField } = store;
    return engine === "resp" && versionField && has(versionField)
      ? [{ ...store, versionField }]
      : [];
  });
  const named = possibleStores.filter(({ versionField }) => versionField !== COMPATIBLE_FIELD);
  return named.length > 0 ? named : possibleStores;
}

const field = (info: string, name: string): string | undefined =>
  new RegExp(`^${name}:(\\S+)`, "m").exec(info)?.[1];

/**
 * The version of the requested store, from the INFO answers of its nodes; different
 * versions are joined.
 * @param store id of the requested store
 * @throws Error when a node is another kind of store
 */
export function versionFromInfo(store: string, answers: readonly string[]): string {
  const versions = answers.map((info) => {
    const possibleStores = storesByFields((name) => field(info, name) !== undefined);
    const actualStore = possibleStores.find(({ id }) => id === store) ?? possibleStores[0];
    const version = actualStore && field(info, actualStore.versionField);
    if (!version) throw new Error("the store's INFO names no version");
    if (actualStore.id !== store)
      throw new Error(`it is ${actualStore.id} ${version}, but ${store} was requested`);
    return version;
  });
  return [...new Set(versions)].join(", ");
}
