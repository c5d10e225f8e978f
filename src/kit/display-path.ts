import { relative } from "node:path";

/** A path as messages show it, relative to the working folder if it lies below. */
export function displayPath(path: string): string {
  const below = relative(process.cwd(), path);
  return below === "" || below.startsWith("..") ? path : below;
}
