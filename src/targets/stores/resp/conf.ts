import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { StoreDescription } from "../../types.js";

/** The project's folder: the same relative path from the sources and from the build. */
const root = new URL("../../../../", import.meta.url);

/**
 * The settings of a store's configuration file as arguments of its program, so that the file is not needed where the
 * program runs. One directive per line; `""` is an empty value.
 * @returns an empty list for a store without a configuration file
 */
export function confArguments({ conf }: StoreDescription): string[] {
  if (conf === undefined) return [];
  return readFileSync(fileURLToPath(new URL(conf, root)), "utf8")
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("#"))
    .flatMap((line) => {
      const [name, ...values] = line.split(/\s+/);
      return [`--${name}`, ...values.map((value) => (value === '""' ? "" : value))];
    });
}
