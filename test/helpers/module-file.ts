import { existsSync } from "node:fs";
import { findModule } from "../../src/targets/modules/index.js";

/**
 * The file of a module that its variable names, e.g. REDIS_CELL_MODULE. It is undefined where there
 * is none.
 */
export function moduleFile(id: string): string | undefined {
  const path = process.env[findModule(id).variable];
  return path && existsSync(path) ? path : undefined;
}

/** Arguments of a store that loads the module. */
export const moduleArguments = (id: string): string[] => ["--loadmodule", moduleFile(id) ?? ""];
