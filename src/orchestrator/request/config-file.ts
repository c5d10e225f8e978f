import { readFileSync, statSync } from "node:fs";
import { basename } from "node:path";
import { isMap, isScalar, isSeq, LineCounter, type Node, type Pair, parseDocument } from "yaml";
import { z } from "zod";
import { messageOf, usageError } from "../../contract/errors.js";
import { MANIFEST_SCHEMA, otherVersionReason } from "../../contract/manifest.js";
import { didYouMean } from "../../targets/did-you-mean.js";
import type { Layer, SettingValue } from "./setting-layers.js";
import { FILE_SETTINGS } from "./settings.js";

const MAX_BYTES = 16 * 1024 ** 2;

const KEYS = FILE_SETTINGS.map(({ key }) => key);
/** Statements that the campaign is to support. They are the report's, and no setting. */
const CLAIMS = "claims";

/**
 * Reads a campaign file: YAML with the flags' names as keys, or the manifest of a campaign to repeat.
 * @throws usageError naming file, line and key
 */
export function configLayer(path: string): Layer {
  return new ConfigFile(path).layer();
}

class ConfigFile {
  readonly #name: string;
  readonly #text: string;
  readonly #lines = new LineCounter();

  constructor(path: string) {
    if (/\p{Cc}/u.test(path))
      throw usageError(
        `--config ${JSON.stringify(path.slice(0, 60))}: no line breaks or other control characters`,
      );
    this.#name = basename(path);
    try {
      const { size } = statSync(path);
      if (size > MAX_BYTES) throw new Error(`it has ${size} bytes, at most ${MAX_BYTES} are read`);
      this.#text = readFileSync(path, "utf8");
    } catch (error) {
      throw usageError(`--config ${path} cannot be read: ${messageOf(error)}`, { cause: error });
    }
  }

  layer(): Layer {
    const document = parseDocument(this.#text, { lineCounter: this.#lines, prettyErrors: false });
    const [wrong] = document.errors;
    if (wrong) throw this.#refused(wrong.pos[0], wrong.message.replaceAll("\n", " "));
    const root = document.contents;
    if (root === null) return new Map();
    if (!isMap(root)) throw this.#refused(root.range?.[0] ?? 0, "give settings as key: value");
    const isManifest = (root.get("schema") as unknown) === MANIFEST_SCHEMA;
    const otherVersion = isManifest && otherVersionReason(root.get("schema_version"));
    if (otherVersion) throw this.#refused(0, otherVersion);
    const settings = isManifest ? root.get("settings", true) : root;
    if (!isMap(settings)) throw this.#refused(0, "this manifest holds no settings");
    const pairs = (settings.items as Pair<Node, Node | null>[]).filter(
      ({ key }) => !(isScalar(key) && key.value === CLAIMS),
    );
    return new Map(pairs.map((pair) => this.#setting(pair)));
  }

  #setting({ key, value }: Pair<Node, Node | null>): [string, SettingValue] {
    const at = key.range?.[0] ?? 0;
    const name = isScalar(key) ? String(key.value) : "";
    if (!KEYS.includes(name))
      throw this.#refused(
        at,
        `there is no setting ${JSON.stringify(name.slice(0, 60))}${didYouMean(name, KEYS)}`,
      );
    return [name, { source: `${this.#at(at)} ${name}`, value: this.#valueOf(name, at, value) }];
  }

  /** A scalar, or a list of scalars joined by commas, as a flag has it. */
  #valueOf(name: string, at: number, value: Node | null): string {
    const items = isSeq(value) ? (value.items as Node[]) : [value];
    const texts = items.map((item) => {
      const scalar = isScalar(item) ? item.value : undefined;
      if (["string", "number", "boolean"].includes(typeof scalar))
        // The source text: YAML would turn 0x10 into 16.
        return typeof scalar === "string" ? scalar : (isScalar(item) && item.source) || String(scalar);
      throw this.#refused(at, `${name} needs a value or a list of values`);
    });
    return texts.join(",");
  }

  #at(offset: number): string {
    return `${this.#name}:${this.#lines.linePos(offset).line || 1}`;
  }

  #refused(offset: number, text: string) {
    return usageError(`${this.#at(offset)}: ${text}`);
  }
}

const scalar = z.union([z.string(), z.number(), z.boolean()]);

/** The schema of a campaign file: each key is a flag's name and holds a value or a list of values. */
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
