import { basename } from "node:path";
import { isMap, isScalar, isSeq, LineCounter, type Node, type Pair, parseDocument } from "yaml";
import { z } from "zod";
import {
  MANIFEST_SCHEMA,
  otherVersionReason,
  type RegisteredCriterion,
} from "../../contract/manifest.js";
import { messageOf, usageError } from "../../kit/errors.js";
import { MAX_SETTING_BYTES, readUserFile } from "../../kit/user-files.js";
import { didYouMean } from "../../targets/did-you-mean.js";
import { criteriaOf } from "./criteria.js";
import type { SettingLayer, SettingValue } from "./setting-layers.js";
import { badValue } from "./setting-values.js";
import { FILE_SETTINGS, settingOf } from "./settings.js";

const KEYS = FILE_SETTINGS.map(({ key }) => key);

/** The key of statements that the campaign is to support. The report reads them; they are no setting. */
const CLAIMS = "claims";

/** A setting that only manifests of earlier versions hold. It means nothing any more. */
const NO_REFERENCE = "no-reference";

/**
 * Reads a campaign file (YAML with flags as keys) or a manifest.
 * @throws usageError that names line and key
 */
export function configLayer(path: string): SettingLayer {
  const file = readYamlFile(path, "--config");
  const { document } = file;
  const [syntaxError] = document.errors;
  if (syntaxError)
    throw refused(file, syntaxError.pos[0], syntaxError.message.replaceAll("\n", " "));

  const root = document.contents;
  if (root === null) return new Map();
  if (!isMap(root)) throw refused(file, root.range?.[0] ?? 0, "give settings as key: value");

  const isManifest = (root.get("schema") as unknown) === MANIFEST_SCHEMA;
  const otherVersion = isManifest && otherVersionReason(root.get("schema_version"));
  if (otherVersion) throw refused(file, 0, otherVersion);
  const settings = isManifest ? root.get("settings", true) : root;
  if (!isMap(settings)) throw refused(file, 0, "this manifest holds no settings");

  const pairs = (settings.items as Pair<Node, Node | null>[]).filter(
    ({ key }) => !(isScalar(key) && [CLAIMS, NO_REFERENCE].includes(String(key.value))),
  );
  return new Map(pairs.map((pair) => settingIn(file, pair)));
}

/**
 * The criteria of the claims in a campaign file. A manifest has none to give: a campaign that
 * repeats it is judged by the file at its revision.
 * @throws usageError that names the member that is no claim
 */
export function configCriteria(path: string): RegisteredCriterion[] {
  const file = readYamlFile(path, "--config");
  if (!isMap(file.document.contents) || !file.document.contents.has(CLAIMS)) return [];
  const root = file.document.toJS({ maxAliasCount: MAX_ALIASES }) as Record<string, unknown>;
  try {
    return criteriaOf(root[CLAIMS]);
  } catch (error) {
    throw usageError(`${file.name}: ${messageOf(error)}`, { cause: error });
  }
}

function settingIn(
  file: YamlFile,
  { key, value }: Pair<Node, Node | null>,
): [string, SettingValue] {
  const offset = key.range?.[0] ?? 0;
  const name = isScalar(key) ? String(key.value) : "";
  if (!KEYS.includes(name))
    throw refused(
      file,
      offset,
      `there is no setting ${JSON.stringify(name.slice(0, 60))}${didYouMean(name, KEYS)}`,
    );
  const text = textOf(value, settingOf(name).isExact === true);
  if (text === undefined) throw refused(file, offset, `${name} needs a value or a list of values`);
  return [name, { source: `${placeIn(file, offset)} ${name}`, value: text }];
}

/** The text of a scalar, or of a list joined as in a flag; undefined for anything else. */
function textOf(value: Node | null, isExact: boolean): string | undefined {
  const items = isSeq(value) ? (value.items as Node[]) : [value];
  const texts = items.flatMap((item) => {
    const scalar = isScalar(item) ? item.value : undefined;
    if (!["string", "number", "boolean"].includes(typeof scalar)) return [];
    // The source text counts, because YAML would turn 0x10 into 16.
    return typeof scalar === "string" ? scalar : (isScalar(item) && item.source) || String(scalar);
  });
  if (texts.length !== items.length) return undefined;
  return isExact && texts.length > 1 ? JSON.stringify(texts) : texts.join(",");
}

const placeIn = ({ name, lineOf }: YamlFile, offset: number): string => `${name}:${lineOf(offset)}`;

const refused = (file: YamlFile, offset: number, text: string) =>
  usageError(`${placeIn(file, offset)}: ${text}`);

const scalar = z.union([z.string(), z.number(), z.boolean()]);

/** The schema of campaign files, which editors can use. */
export function campaignFileSchema() {
  const members = FILE_SETTINGS.map(({ key, value, help }) => {
    const type = value ? z.union([scalar, z.array(scalar)]) : z.boolean();
    return [key, type.optional().describe(help)] as const;
  });
  const claims = z
    .array(z.unknown())
    .optional()
    .describe("What others published, for `python3 report claims`");
  return z
    .strictObject({ ...Object.fromEntries(members), [CLAIMS]: claims })
    .meta({ title: "A campaign of ratelimit-bench" });
}

interface YamlFile {
  name: string;
  document: ReturnType<typeof parseDocument>;
  lineOf(offset: number): number;
}

/** @throws usageError for a file that cannot be read or nests too deep */
export function readYamlFile(path: string, source: string): YamlFile {
  if (/\p{Cc}/u.test(path))
    throw badValue(source, path, "no line breaks or other control characters");
  const lines = new LineCounter();
  return {
    name: basename(path),
    document: documentOf(path, source, lines),
    lineOf: (offset) => lines.linePos(offset).line || 1,
  };
}

/**
 * The deepest nesting of a file. Nobody nests settings deeper, and a parser that calls itself for
 * each level would run out of stack or memory.
 */
const MAX_DEPTH = 100;

/** The most aliases of a file. With more, aliases of aliases would fill the memory. */
const MAX_ALIASES = 100;

/**
 * Whether a text may nest deeper than `MAX_DEPTH`, by its brackets or the indent of a line. This is
 * decided before it is parsed.
 */
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
