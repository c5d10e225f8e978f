import type { StoreDescription } from "../types.js";
import { fairArguments, scriptCommands } from "./common.js";

export const valkey: StoreDescription = {
  id: "valkey",
  program: "valkey-server",
  image: "valkey/valkey:8.1",
  versionField: "valkey_version",
  arguments: fairArguments,
  scriptCommands,
};
