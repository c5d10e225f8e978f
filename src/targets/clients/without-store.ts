import type { OpenClient } from "../types.js";
import { singleShardKeys } from "./shard-keys.js";

/** The client of a control: there is nothing to connect to. */
export const withoutStore = async (): Promise<OpenClient> => ({
  handle: undefined,
  settings: {},
  storeVersion: async () => undefined,
  shardKeys: singleShardKeys,
  close: async () => undefined,
});
