import { readdirSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { z } from "zod";
import {
  MANIFEST_SCHEMA,
  type Manifest,
  manifestSchema,
  otherVersionReason,
} from "../../contract/manifest.js";
import { BenchError, environmentError, messageOf, usageError } from "../../kit/errors.js";
import { MAX_DOCUMENT_BYTES, readUserFile } from "../../kit/user-files.js";
import type { Request } from "./request.js";
import type { SettingLayer, SettingValue } from "./setting-layers.js";
import { SETTINGS, type Setting } from "./settings.js";

export type ExistingCampaign = { folder: string; manifest: Manifest };

const keysOnResume = (kind: Setting["onResume"]): string[] =>
  SETTINGS.flatMap(({ key, onResume }) => (onResume === kind ? [key] : []));

const isStamp = (name: string): boolean => /^\d{8}_\d{6}$/.test(name);

/** The value of `--resume` without a name. */
const NEWEST = "true";

/**
 * @param root results root @param given a folder's name, or `true` for the newest @throws
 *   usageError;
 * environmentError
 */
export function findCampaign(root: string, given: string): ExistingCampaign {
  const absolute = resolve(root);
  const name = given === NEWEST ? newest(absolute) : given;
  if (name !== basename(name) || [".", ".."].includes(name) || name.startsWith("-"))
    throw usageError(
      `--resume ${shown(name)}: give the name of a campaign below --output, e.g. 20260102_030405`,
    );
  const path = join(absolute, name);
  if (!isFolder(path))
    throw usageError(`--resume ${shown(name)}: there is no such campaign in ${absolute}`);
  const folder = realpathSync(path);
  if (dirname(folder) !== realpathSync(absolute))
    throw environmentError(
      `${path} leads out of the results folder, to ${folder}: nothing is written there`,
    );
  refuseLinks(folder);
  return { folder, manifest: manifestOf(folder) };
}

const shown = (name: string): string => JSON.stringify(name.slice(0, 60));

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

function newest(root: string): string {
  const found = names(root).filter(isStamp).sort().at(-1);
  if (found === undefined) throw usageError(`--resume: there is no campaign in ${root}`);
  return found;
}

function names(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    throw usageError(`--resume: ${folder} cannot be read: ${messageOf(error)}`, { cause: error });
  }
}

/**
 * A campaign creates files and folders alone. Writing through a link could overwrite files
 * elsewhere.
 */
function refuseLinks(folder: string): void {
  const entries = readdirSync(folder, { withFileTypes: true });
  const link = entries.find((entry) => entry.isSymbolicLink());
  if (link)
    throw environmentError(`${join(folder, link.name)} is a link: replace it by what it points to`);
  const other = entries.find((entry) => !entry.isFile() && !entry.isDirectory());
  if (other)
    throw environmentError(`${join(folder, other.name)} is neither a file nor a folder: remove it`);
}

/** What a manifest of any version has. */
const headerSchema = z.object({ schema: z.literal(MANIFEST_SCHEMA), schema_version: z.unknown() });

function manifestOf(folder: string): Manifest {
  const path = join(folder, "manifest.json");
  try {
    const document: unknown = JSON.parse(
      readUserFile(path, MAX_DOCUMENT_BYTES, { isOwn: true }).toString("utf8"),
    );
    const { data, error } = manifestSchema.safeParse(document);
    if (data) {
      requirePlainNames(data);
      return data;
    }
    const { data: header } = headerSchema.safeParse(document);
    const otherVersion = header && otherVersionReason(header.schema_version);
    if (otherVersion) throw usageError(`${path}: ${otherVersion}`);
    const [issue] = error.issues;
    throw new Error(`${issue?.path.join(".") || "the document"}: ${issue?.message}`);
  } catch (error) {
    if (error instanceof BenchError) throw error;
    throw usageError(
      `${path} is not the manifest of a campaign: ${messageOf(error).slice(0, 200)}`,
      {
        cause: error,
      },
    );
  }
}

/**
 * The campaign writes to files that its manifest names: they must lie in its folder. @throws Error
 * naming the field
 */
function requirePlainNames({ campaign, plan }: Manifest): void {
  const isPlain = (name: string) => /^[\w][\w.+-]*$/.test(name);
  if (!isPlain(campaign)) throw new Error(`campaign: ${shown(campaign)} is not a name`);
  const wrong = plan.runs.find(({ file }) => !isPlain(file));
  if (wrong) throw new Error(`plan.runs: the file ${shown(wrong.file)} is not a plain name`);
}

/**
 * A resumed campaign's settings, with the few that may change. @throws usageError naming the others
 */
export function resumedLayers(
  { manifest }: ExistingCampaign,
  environment: SettingLayer,
  flags: SettingLayer,
  notices: string[],
): SettingLayer[] {
  const { campaign, settings, runtime } = manifest;
  const fromEnvironment = keysOnResume("flag or variable");
  const allowed = [...keysOnResume("flag"), ...fromEnvironment];
  const wrong = [...flags].filter(([key]) => !allowed.includes(key)).map(([, value]) => value);
  if (wrong.length > 0) {
    const sources = wrong.map(({ source }) => source).join(", ");
    throw usageError(
      `--resume continues the plan of ${campaign}: leave out ${sources}, or start a new campaign`,
    );
  }
  const given = flags.get("runtime")?.value ?? "auto";
  if (given !== "auto" && given !== runtime.id)
    throw usageError(
      `--runtime ${given}: campaign ${campaign} runs on ${runtime.id} and must continue there`,
    );
  if (!settings) throw usageError(`the manifest of ${campaign} holds no settings`);
  const recorded = new Map<string, SettingValue>(
    Object.entries(settings).map(([key, value]) => [
      key,
      { source: `campaign ${campaign}: ${key}`, value },
    ]),
  );
  const stores = new Map([...environment].filter(([key]) => fromEnvironment.includes(key)));
  for (const [key, { source, value }] of environment) {
    if (!fromEnvironment.includes(key) && value !== settings[key])
      notices.push(`${source} is ignored: ${campaign} keeps its settings`);
  }
  // `auto` stays what it was resolved to.
  recorded.set("runtime", { source: `campaign ${campaign}: runtime`, value: runtime.id });
  return [recorded, stores, new Map([...flags].filter(([key]) => key !== "runtime"))];
}

/**
 * The request with the recorded workers and caps. @throws usageError if only one uses an external
 * store
 */
export function resumedRequest(request: Request, { manifest }: ExistingCampaign): Request {
  const { plan, runtime, generator, campaign } = manifest;
  const external = plan.configurations.some(({ configuration }) => configuration.external_store);
  if (external && !request.storeAccess.STORE_URL)
    throw usageError(
      `campaign ${campaign} measures a store that already runs: set STORE_URL again`,
    );
  if (!external && request.storeAccess.STORE_URL)
    throw usageError(
      `STORE_URL: campaign ${campaign} starts its stores itself and must continue so`,
    );
  return { ...request, workers: generator.workers, caps: runtime.caps ?? request.caps };
}
