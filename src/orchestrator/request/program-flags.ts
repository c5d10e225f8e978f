import { spawnSync } from "node:child_process";
import { resolve } from "node:path";
import { nodeProgram, parseStoreText } from "../../contract/target.js";
import { usageError } from "../../kit/errors.js";
import { didYouMean, requireKnown } from "../../targets/did-you-mean.js";
import { storeLayerPrograms } from "../../targets/load-programs/index.js";
import { loadPrograms } from "../../targets/load-programs/load-programs.js";
import { modules } from "../../targets/modules/index.js";
import { findService, services } from "../../targets/services/index.js";
import { stores } from "../../targets/stores/index.js";
import { AUTO, badValue, type NamedPrograms, type ServiceEnv } from "./request.js";
import type { SettingLayer, Settings, SettingValue } from "./setting-layers.js";
import { SETTINGS } from "./settings.js";

/**
 * `NAME=TEXT`, separated by commas in front of another name, so that a path may hold one.
 * @param form of a pair, for messages @throws usageError for no pair, or two texts of one name
 */
function pairsOf({ source, value }: SettingValue, form: string): Map<string, string> {
  const pairs = new Map<string, string>();
  for (const text of value.split(/,(?=[^,=/]*=)/)) {
    const [, name = "", reference = ""] = /^([^=]+)=(.+)$/.exec(text.trim()) ?? [];
    if (!reference || !PROGRAM.test(name))
      throw badValue(source, text, `give ${form}, where NAME is a store or a service`);

    const other = pairs.get(name);
    if (other !== undefined && other !== reference)
      throw usageError(`${source}: ${name}=${other} and ${name}=${reference}: give one of them`);
    pairs.set(name, reference);
  }
  return pairs;
}

/** A name, or a store in a version. */
const PROGRAM = /^[a-z0-9][a-z0-9.-]{0,39}(?:~[0-9A-Za-z][0-9A-Za-z._-]{0,39})?$/;

/** What an image's name may consist of; the engine knows the rest. */
const IMAGE = /^\w[\w.:/@-]{0,254}$/;

/**
 * The stores of `--store-versions`, and their paths. @throws usageError unless
 * `name~version[=path]`
 */
export function storeVersionsOf(settings: Settings): {
  texts: string[];
  paths: Map<string, string>;
} {
  const given = settings.find("store-versions");
  const paths = new Map<string, string>();
  // A comma only separates in front of another version, so that a path may hold one.
  const entries = given?.value.split(/,(?=\s*[a-z0-9][a-z0-9.-]*~)/) ?? [];
  const texts = entries.map((entry) => {
    const [, text = "", path] = /^([^=]*)(?:=(.+))?$/.exec(entry.trim()) ?? [];
    if (!PROGRAM.test(text) || !text.includes("~"))
      throw badValue(
        given?.source ?? "",
        entry,
        "give NAME~VERSION or NAME~VERSION=PATH, e.g. valkey~8.1",
      );
    const { id } = parseStoreText(text);
    const known = stores.flatMap(({ id, program }) => (program ? [id] : []));
    requireKnown("store with versions", id, known);
    if (path) paths.set(text, path);
    return text;
  });
  return { texts: [...new Set(texts)], paths };
}

/** The paths of `--node` by the versions that they print. @throws usageError */
export function nodesOf(settings: Settings, runtime: string): Map<string, string> {
  const given = settings.find("node");
  const found = new Map<string, string>();
  if (!given) return found;
  if (runtime !== "local" && runtime !== AUTO)
    throw usageError(
      `${given.source} names programs of this machine: give --runtime local with it`,
    );
  // Not at spaces, which a path may hold.
  for (const path of new Set(given.value.split(",").map((each) => each.trim()))) {
    const version = printedVersion(path);
    const other = found.get(version);
    if (other !== undefined)
      throw usageError(`${given.source}: ${other} and ${path} are both Node ${version}`);
    found.set(version, path);
  }
  return found;
}

function printedVersion(path: string): string {
  // No name of a file is empty or holds a NUL, and spawning one throws.
  const { stdout } =
    !path || path.includes("\0")
      ? { stdout: "" }
      : spawnSync(path, ["--version"], { encoding: "utf8", timeout: 10_000 });
  const version = /^v(\d+\.\d+\.\d+)\b/.exec(stdout ?? "")?.[1];
  if (version) return version;
  throw usageError(
    `--node ${JSON.stringify(path.slice(0, 60))} is no Node: give the path of one, which prints a version such as v22.11.0`,
  );
}

const rank = (layers: readonly SettingLayer[], key: string): number =>
  layers.findLastIndex((layer) => layer.has(key));

/**
 * Both `--valkey-server` and a pair may name a store's program: the later layer wins, with a
 * notice. @throws usageError
 */
export function namedPrograms(
  settings: Settings,
  layers: readonly SettingLayer[],
  notices: string[],
  nodes: ReadonlyMap<string, string>,
): NamedPrograms {
  const program = settings.find("program");
  const image = settings.find("image");
  const paths = new Map(program ? pairsOf(program, "NAME=PATH") : []);
  for (const [name, path] of storeVersionsOf(settings).paths) paths.set(name, path);
  for (const [version, path] of nodes) paths.set(nodeProgram(version), path);

  for (const { id, program: key } of stores) {
    const hasSetting = SETTINGS.some((setting) => setting.key === key);
    const storeFlag = hasSetting && key ? settings.find(key) : undefined;
    if (!key || !storeFlag) continue;

    const path = paths.get(id);
    if (program && path !== undefined && resolve(path) !== resolve(storeFlag.value)) {
      const pairText = `${program.source} ${id}=${path}`;
      const flagText = `${storeFlag.source} ${storeFlag.value}`;
      const difference = rank(layers, "program") - rank(layers, key);
      if (difference === 0) throw usageError(`${pairText} and ${flagText}: give one of them`);
      if (difference > 0) {
        notices.push(`${pairText} wins over ${flagText}`);
        continue;
      }
      notices.push(`${flagText} wins over ${pairText}`);
    }
    paths.set(id, storeFlag.value);
  }

  const images = image ? pairsOf(image, "NAME=REF") : new Map<string, string>();
  for (const [id, reference] of images)
    if (!IMAGE.test(reference))
      throw badValue(
        image?.source ?? "",
        `${id}=${reference}`,
        "give NAME=REF, where REF names an image, e.g. redis:7.4",
      );
  return { paths: Object.fromEntries(paths), images: Object.fromEntries(images) };
}

const isStoreVersion = (name: string): boolean =>
  name.includes("~") && stores.some(({ id, program }) => program && id === parseStoreText(name).id);

/** Checks the names once the stores of plugins are known. @throws usageError */
export function requireKnownPrograms({ paths, images }: NamedPrograms): void {
  const all = [...stores, ...services, ...storeLayerPrograms, ...loadPrograms];
  const started = [...new Set(all.flatMap(({ id, program }) => (program ? [id] : [])))];
  for (const [flag, what, named, known] of [
    [
      "--program",
      "store, service, module or benchmark",
      paths,
      [...started, ...modules.map(({ id }) => id)],
    ],
    ["--image", "store, service or benchmark", images, started],
  ] as const) {
    const isNode = (id: string) => flag === "--program" && id.startsWith("node~");
    const isKnown = (id: string) => known.includes(id) || isStoreVersion(id) || isNode(id);
    const wrong = Object.keys(named).find((id) => !isKnown(id));
    if (wrong === undefined) continue;
    const near = didYouMean(wrong, known);
    throw usageError(`${flag}: there is no ${what} ${JSON.stringify(wrong.slice(0, 60))}${near}`);
  }
}

/** A comma only separates in front of another setting, so that a value may hold one. */
const NEXT = /,(?=[a-z0-9][a-z0-9.-]*:[A-Z][A-Z0-9_]*=)/;
const SETTING = /^(?<id>[a-z0-9][a-z0-9.-]{0,39}):(?<name>[A-Z][A-Z0-9_]{0,63})=(?<value>.*)$/;

/** Reads `service:NAME=value`, several separated by commas. @throws usageError */
export function serviceEnvOf({ source, value: text }: SettingValue): ServiceEnv {
  const all: ServiceEnv = {};
  for (const given of text.split(NEXT)) {
    const { id = "", name = "", value = "" } = SETTING.exec(given.trim())?.groups ?? {};
    if (!name)
      throw badValue(
        source,
        given,
        "give SERVICE:NAME=value, e.g. envoy-ratelimit:REDIS_POOL_SIZE=20",
      );
    if (findService(id).reserved.test(name))
      throw usageError(
        `${source} ${id}:${name}: the harness sets ${name} itself; addresses, ports and counters cannot be changed`,
      );

    const variables = all[id] ?? {};
    const other = variables[name];
    if (other !== undefined && other !== value)
      throw usageError(`${source}: ${name}=${other} and ${name}=${value}: give one of them`);
    all[id] = { ...variables, [name]: value };
  }
  return all;
}
