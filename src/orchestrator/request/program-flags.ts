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
import type { NamedPrograms, ServiceEnv } from "./request.js";
import type { SettingLayer, Settings, SettingValue } from "./setting-layers.js";
import { AUTO, badValue } from "./setting-values.js";
import { SETTINGS } from "./settings.js";

/**
 * The texts by name of a list of `NAME=TEXT`. A comma only separates in front of another name, so
 * that a path may hold one.
 * @param form the form of a pair, for messages
 * @throws usageError for a text that is no pair, or for two texts of one name
 */
function pairsOf({ source, value }: SettingValue, form: string): Map<string, string> {
  const pairs = new Map<string, string>();
  for (const text of value.split(/,(?=[^,=/]*=)/)) {
    const [, name = "", reference = ""] = /^([^=]+)=(.+)$/.exec(text.trim()) ?? [];
    if (!reference || !PROGRAM.test(name))
      throw badValue(source, text, `give ${form}, where NAME is a store or a service`);

    const otherReference = pairs.get(name);
    if (otherReference !== undefined && otherReference !== reference)
      throw usageError(
        `${source}: ${name}=${otherReference} and ${name}=${reference}: give one of them`,
      );
    pairs.set(name, reference);
  }
  return pairs;
}

/** Matches the name of a program, or of a store in a version. */
const PROGRAM = /^[a-z0-9][a-z0-9.-]{0,39}(?:~[0-9A-Za-z][0-9A-Za-z._-]{0,39})?$/;

/** Matches what may be an image's name. The container engine checks the rest of it. */
const IMAGE = /^\w[\w.:/@-]{0,254}$/;

/**
 * The stores of `--store-versions`, and the paths of their programs.
 * @throws usageError for a word that is not of the form `name~version[=path]`
 */
export function storeVersionsOf(settings: Settings): {
  texts: string[];
  paths: Map<string, string>;
} {
  const setting = settings.find("store-versions");
  const paths = new Map<string, string>();
  // A comma only separates in front of another version, so that a path may hold one.
  const entries = setting?.value.split(/,(?=\s*[a-z0-9][a-z0-9.-]*~)/) ?? [];
  const texts = entries.map((entry) => {
    const [, text = "", path] = /^([^=]*)(?:=(.+))?$/.exec(entry.trim()) ?? [];
    if (!PROGRAM.test(text) || !text.includes("~"))
      throw badValue(
        setting?.source ?? "",
        entry,
        "give NAME~VERSION or NAME~VERSION=PATH, e.g. valkey~8.1",
      );
    const { id } = parseStoreText(text);
    const startedStores = stores.flatMap(({ id, program }) => (program ? [id] : []));
    requireKnown("store with versions", id, startedStores);
    if (path) paths.set(text, path);
    return text;
  });
  return { texts: [...new Set(texts)], paths };
}

/** The paths of `--node` by the versions that they print. @throws usageError */
export function nodesOf(settings: Settings, runtime: string): Map<string, string> {
  const setting = settings.find("node");
  const pathsByVersion = new Map<string, string>();
  if (!setting) return pathsByVersion;
  if (runtime !== "local" && runtime !== AUTO)
    throw usageError(
      `${setting.source} names programs of this machine: give --runtime local with it`,
    );

  // Spaces do not separate, because a path may hold them.
  const paths = setting.value.split(",").map((path) => path.trim());
  for (const path of new Set(paths)) {
    const version = printedVersion(path);
    const otherPath = pathsByVersion.get(version);
    if (otherPath !== undefined)
      throw usageError(`${setting.source}: ${otherPath} and ${path} are both Node ${version}`);
    pathsByVersion.set(version, path);
  }
  return pathsByVersion;
}

/** The version that the Node at a path prints. @throws usageError where it prints none */
function printedVersion(path: string): string {
  // Spawning throws for an empty path and for one with a NUL, which no file can have.
  const isPath = path !== "" && !path.includes("\0");
  const output = isPath
    ? spawnSync(path, ["--version"], { encoding: "utf8", timeout: 10_000 }).stdout
    : "";
  const version = /^v(\d+\.\d+\.\d+)\b/.exec(output ?? "")?.[1];
  if (version) return version;
  throw usageError(
    `--node ${JSON.stringify(path.slice(0, 60))} is no Node: give the path of one, which prints a version such as v22.11.0`,
  );
}

/** The index of the last layer that has a setting, which wins over earlier ones. */
const rankOf = (layers: readonly SettingLayer[], key: string): number =>
  layers.findLastIndex((layer) => layer.has(key));

/**
 * The programs and images that the user names. Both `--valkey-server` and a pair may name a store's
 * program; the later layer wins, with a notice.
 * @throws usageError where one layer names a program twice
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
      const difference = rankOf(layers, "program") - rankOf(layers, key);
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
  const programs = [...stores, ...services, ...storeLayerPrograms, ...loadPrograms];
  const programIds = [...new Set(programs.flatMap(({ id, program }) => (program ? [id] : [])))];
  const fileIds = [...programIds, ...modules.map(({ id }) => id)];

  const unknownFile = Object.keys(paths).find(
    (id) => !fileIds.includes(id) && !isStoreVersion(id) && !id.startsWith("node~"),
  );
  if (unknownFile !== undefined)
    throw unknownProgram("--program", "store, service, module or benchmark", unknownFile, fileIds);

  const unknownImage = Object.keys(images).find(
    (id) => !programIds.includes(id) && !isStoreVersion(id),
  );
  if (unknownImage !== undefined)
    throw unknownProgram("--image", "store, service or benchmark", unknownImage, programIds);
}

function unknownProgram(flag: string, kinds: string, id: string, known: readonly string[]) {
  const shown = JSON.stringify(id.slice(0, 60));
  return usageError(`${flag}: there is no ${kinds} ${shown}${didYouMean(id, known)}`);
}

/** Matches a comma in front of another setting. Any other comma belongs to a value. */
const NEXT_SETTING = /,(?=[a-z0-9][a-z0-9.-]*:[A-Z][A-Z0-9_]*=)/;
const SETTING = /^(?<id>[a-z0-9][a-z0-9.-]{0,39}):(?<name>[A-Z][A-Z0-9_]{0,63})=(?<value>.*)$/;

/** Reads `service:NAME=value`, several separated by commas. @throws usageError */
export function serviceEnvOf({ source, value: text }: SettingValue): ServiceEnv {
  const serviceEnv: ServiceEnv = {};
  for (const pair of text.split(NEXT_SETTING)) {
    const { id = "", name = "", value = "" } = SETTING.exec(pair.trim())?.groups ?? {};
    if (!name)
      throw badValue(
        source,
        pair,
        "give SERVICE:NAME=value, e.g. envoy-ratelimit:REDIS_POOL_SIZE=20",
      );
    if (findService(id).reserved.test(name))
      throw usageError(
        `${source} ${id}:${name}: the harness sets ${name} itself; addresses, ports and counters cannot be changed`,
      );

    const variables = serviceEnv[id] ?? {};
    const otherValue = variables[name];
    if (otherValue !== undefined && otherValue !== value)
      throw usageError(`${source}: ${name}=${otherValue} and ${name}=${value}: give one of them`);
    serviceEnv[id] = { ...variables, [name]: value };
  }
  return serviceEnv;
}
