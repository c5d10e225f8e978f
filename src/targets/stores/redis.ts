import type { StoreDescription } from "../types.js";
import { scriptCommands } from "./common.js";

export const redis: StoreDescription = {
  id: "redis",
  program: "redis-server",
  image: { name: "redis:8.0", variable: "REDIS_IMAGE" },
  versionField: "redis_version",
  conf: "redis.conf",
  scriptCommands,
};
