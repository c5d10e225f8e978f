import { realpathSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { displayPath } from "../kit/display-path.js";

const escaped = (text: string): string => text.replaceAll(/[^\w/]/g, "\\$&");

function caretColumn(trace: string): string | undefined {
  const indentation = /^ *(?=\^)/m.exec(trace.split("\n")[2] ?? "");
  return indentation ? String(indentation[0].length + 1) : undefined;
}

/**
 * Returns the place of an error in a plugin, e.g. `my-client.js:12:5`. It is undefined where the
 * trace names none of the plugins.
 * @param trace the error's stack, or Node's output for it
 * @param paths of the plugins, as the user wrote them
 */
export function errorLocation(trace: string, paths: readonly string[]): string | undefined {
  for (const path of paths) {
    const realPath = realpathSync(path);
    const url = pathToFileURL(realPath).href;
    const match = new RegExp(
      `(?:${escaped(url)}|${escaped(realPath)})(/[^\\n]*?)?:(\\d+)(?::(\\d+))?`,
    ).exec(trace);
    if (!match) continue;

    const [text, inside = "", line, column] = match;
    const file = displayPath(path) + (text.startsWith(url) ? decodeURIComponent(inside) : inside);
    return [file, line, column ?? caretColumn(trace)].filter(Boolean).join(":");
  }
  return undefined;
}

/** Adds to a text the location of the error, or of its cause, in one of these plugins. */
export function withErrorLocation(text: string, error: unknown, paths: readonly string[]): string {
  const location = [error, error instanceof Error ? error.cause : undefined]
    .map((cause) => (cause instanceof Error ? errorLocation(cause.stack ?? "", paths) : undefined))
    .find((place) => place !== undefined);
  return location && !text.includes(location) ? `${text} (${location})` : text;
}
