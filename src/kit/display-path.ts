import { relative } from "node:path";

export function displayPath(path: string): string {
  const below = relative(process.cwd(), path);
  return below === "" || below.startsWith("..") ? path : below;
}
