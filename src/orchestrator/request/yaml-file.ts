import { readFileSync, statSync } from "node:fs";
import { basename } from "node:path";
import { LineCounter, parseDocument } from "yaml";
import { messageOf, usageError } from "../../contract/errors.js";

/** A file that the user wrote: YAML, or JSON, which is YAML. */
export interface YamlFile {
  name: string;
  document: ReturnType<typeof parseDocument>;
  /** The line, from 1, of an offset. */
  lineOf(offset: number): number;
}

/**
 * @param source the setting that names it, for messages
 * @throws usageError in one line where it cannot be read
 */
export function readYamlFile(path: string, source: string, maxBytes: number): YamlFile {
  if (/\p{Cc}/u.test(path))
    throw usageError(
      `${source} ${JSON.stringify(path.slice(0, 60))}: no line breaks or other control characters`,
    );
  const lines = new LineCounter();
  return {
    name: basename(path),
    document: parseDocument(textOf(path, source, maxBytes), { lineCounter: lines, prettyErrors: false }),
    lineOf: (offset) => lines.linePos(offset).line || 1,
  };
}

function textOf(path: string, source: string, maxBytes: number): string {
  try {
    const { size } = statSync(path);
    if (size > maxBytes) throw new Error(`it has ${size} bytes, at most ${maxBytes} are read`);
    return readFileSync(path, "utf8");
  } catch (error) {
    throw usageError(`${source} ${path} cannot be read: ${messageOf(error)}`, { cause: error });
  }
}
