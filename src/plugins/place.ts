import { realpathSync } from "node:fs";
import { relative } from "node:path";
import { pathToFileURL } from "node:url";

/** A path as its user would name it: from the working folder, if it lies there. */
export function userPath(path: string): string {
  const below = relative(process.cwd(), path);
  return below === "" || below.startsWith("..") ? path : below;
}

const escaped = (text: string): string => text.replaceAll(/[^\w/]/g, "\\$&");

/** Under the line that Node prints above a syntax error. */
function caretColumn(trace: string): string | undefined {
  const before = /^ *(?=\^)/m.exec(trace.split("\n")[2] ?? "");
  return before ? String(before[0].length + 1) : undefined;
}

/**
 * Where in one of these plugins an error arose, e.g. `my-client.js:12:5`.
 * @param trace the error's stack, or what Node prints of it
 * @param paths of files and folders, as they were given
 * @returns undefined where the trace does not tell
 */
export function placeIn(trace: string, paths: readonly string[]): string | undefined {
  for (const path of paths) {
    const real = realpathSync(path);
    const url = pathToFileURL(real).href;
    const found = new RegExp(`(?:${escaped(url)}|${escaped(real)})(/[^\\n]*?)?:(\\d+)(?::(\\d+))?`).exec(
      trace,
    );
    if (!found) continue;
    const [text, inside = "", line, column] = found;
    const file = userPath(path) + (text.startsWith(url) ? decodeURIComponent(inside) : inside);
    return [file, line, column ?? caretColumn(trace)].filter(Boolean).join(":");
  }
  return undefined;
}

/** `text`, and where in one of these plugins the error arose, or what caused it. */
export function withPlace(text: string, error: unknown, paths: readonly string[]): string {
  const place = [error, error instanceof Error ? error.cause : undefined]
    .map((each) => (each instanceof Error ? placeIn(each.stack ?? "", paths) : undefined))
    .find((each) => each !== undefined);
  return place && !text.includes(place) ? `${text} (${place})` : text;
}
