import type { StoreDescription } from "../types.js";
import { scriptCommands } from "./common.js";

export const valkey: StoreDescription = {
  id: "valkey",
  program: "valkey-server",
  image: { name: "valkey/valkey:8.1", variable: "VALKEY_IMAGE" },
  versionField: "valkey_version",
  conf: "valkey.conf",
  scriptCommands,
};
