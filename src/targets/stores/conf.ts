import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { StoreDescription } from "../types.js";

/** The project's own folder: the same way from the sources and from the build. */
const root = new URL("../../../", import.meta.url);

/**
 * The settings of a store's configuration file as the arguments of its program, so that they need no file where the
 * program runs. One directive a line; `""` is an empty value.
 * @returns none for a store without a program
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
