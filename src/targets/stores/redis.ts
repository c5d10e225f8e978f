import type { StoreDescription } from "../types.js";
import { fairArguments, scriptCommands } from "./common.js";

export const redis: StoreDescription = {
  id: "redis",
  program: "redis-server",
  image: "redis:8.0",
  versionField: "redis_version",
  arguments: fairArguments,
  scriptCommands,
};
