import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

/**
 * From the package.json above the module: many packages do not export theirs. @param from the importing file
 * @throws Error when the package cannot be resolved, or no package.json above it carries its name
 */
export function packageVersion(name: string, from: string = import.meta.url): string {
  const entry = createRequire(from).resolve(name);
  for (let folder = dirname(entry); folder !== dirname(folder); folder = dirname(folder)) {
    const file = join(folder, "package.json");
    if (!existsSync(file)) continue;
    const found = JSON.parse(readFileSync(file, "utf8")) as { name?: string; version?: string };
    if (found.name === name && found.version) return found.version;
  }
  throw new Error(`no package.json of ${name} above ${entry}`);
}
