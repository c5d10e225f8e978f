import { basename } from "node:path";
import { LineCounter, parseDocument } from "yaml";
import { messageOf, usageError } from "../../contract/errors.js";
import { MAX_SETTING_BYTES, readUserFile } from "../../contract/user-files.js";

export interface YamlFile {
  name: string;
  document: ReturnType<typeof parseDocument>;
  lineOf(offset: number): number;
}

export function readYamlFile(path: string, source: string): YamlFile {
  if (/\p{Cc}/u.test(path))
    throw usageError(
      `${source} ${JSON.stringify(path.slice(0, 60))}: no line breaks or other control characters`,
    );
  const lines = new LineCounter();
  return {
    name: basename(path),
    document: documentOf(path, source, lines),
    lineOf: (offset) => lines.linePos(offset).line || 1,
  };
}

/** Nobody nests settings deeper, and a parser that calls itself for each level ends without stack or memory. */
const MAX_DEPTH = 100;
/** Beyond it, aliases of aliases would fill the memory. */
const MAX_ALIASES = 100;

/** Whether a text may nest deeper than `MAX_DEPTH`, before it is parsed: by brackets, or by a line's indent. */
function isTooDeep(text: string): boolean {
  let depth = 0;
  for (const [mark] of text.matchAll(/[[{\]}]|^[ \-?]{200,}/gm)) {
    depth = "]}".includes(mark) ? Math.max(0, depth - 1) : depth + 1;
    if (depth > MAX_DEPTH || mark.length > 1) return true;
  }
  return false;
}

function documentOf(path: string, source: string, lineCounter: LineCounter): YamlFile["document"] {
  try {
    const text = readUserFile(path, MAX_SETTING_BYTES).toString("utf8");
    if (isTooDeep(text)) throw new Error(`it nests deeper than ${MAX_DEPTH} levels`);
    const document = parseDocument(text, { lineCounter, prettyErrors: false, logLevel: "error" });
    if (document.errors.length === 0) document.toJS({ maxAliasCount: MAX_ALIASES });
    return document;
  } catch (error) {
    throw usageError(`${source} ${path} cannot be read: ${messageOf(error)}`, { cause: error });
  }
}
