import { relative } from "node:path";

/** The path relative to the working folder, if it lies in it. */
export function displayPath(path: string): string {
  const below = relative(process.cwd(), path);
  return below === "" || below.startsWith("..") ? path : below;
}
