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
import type { Setting } from "./setting-types.js";
import { SETTINGS } from "./settings.js";

export type ExistingCampaign = { folder: string; manifest: Manifest };

const keysOnResume = (kind: Setting["onResume"]): string[] =>
  SETTINGS.flatMap(({ key, onResume }) => (onResume === kind ? [key] : []));

/** A sentence that says which settings a resumed campaign keeps. */
export function keptSettingsText(): string {
  const changeable = [...keysOnResume("flag"), ...keysOnResume("flag or variable")];
  const flags = changeable.map((key) => `--${key}`).join(", ");
  return `kept from its start: the plan, the runtime and all settings of manifest.json; only these may differ: ${flags}`;
}

const isStamp = (name: string): boolean => /^\d{8}_\d{6}$/.test(name);

/** The value of `--resume` without a name. */
const NEWEST = "true";

/**
 * The campaign that `--resume` names.
 * @param root the results root
 * @param value the name of a folder, or `true` for the newest campaign
 * @throws usageError; environmentError
 */
export function findCampaign(root: string, value: string): ExistingCampaign {
  const absolute = resolve(root);
  const name = value === NEWEST ? newestCampaign(absolute) : value;
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

function newestCampaign(root: string): string {
  const name = namesIn(root).filter(isStamp).sort().at(-1);
  if (name === undefined) throw usageError(`--resume: there is no campaign in ${root}`);
  return name;
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    throw usageError(`--resume: ${folder} cannot be read: ${messageOf(error)}`, { cause: error });
  }
}

/**
 * Refuses a folder with anything but files and folders, which are all that a campaign makes. Writing
 * through a link could overwrite files elsewhere.
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

/** The members that a manifest of every version has. */
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
    const reason = messageOf(error).slice(0, 200);
    throw usageError(`${path} is not the manifest of a campaign: ${reason}`, { cause: error });
  }
}

/**
 * Requires that the files which a manifest names lie in the campaign's folder, because the campaign
 * writes to them.
 * @throws Error that names the field
 */
function requirePlainNames({ campaign, plan }: Manifest): void {
  const isPlain = (name: string) => /^[\w][\w.+-]*$/.test(name);
  if (!isPlain(campaign)) throw new Error(`campaign: ${shown(campaign)} is not a name`);
  const wrong = plan.runs.find(({ file }) => !isPlain(file));
  if (wrong) throw new Error(`plan.runs: the file ${shown(wrong.file)} is not a plain name`);
}

/**
 * The settings of a resumed campaign, with the few that may change.
 * @throws usageError that names the flags which may not change
 */
export function resumedLayers(
  { manifest }: ExistingCampaign,
  environment: SettingLayer,
  flags: SettingLayer,
  notices: string[],
): SettingLayer[] {
  const { campaign, settings, runtime } = manifest;
  const variableKeys = keysOnResume("flag or variable");
  const allowedKeys = [...keysOnResume("flag"), ...variableKeys];
  const refused = [...flags].filter(([key]) => !allowedKeys.includes(key));
  if (refused.length > 0) {
    const sources = refused.map(([, { source }]) => source).join(", ");
    throw usageError(
      `--resume continues the plan of ${campaign}: leave out ${sources}, or start a new campaign`,
    );
  }

  const requestedRuntime = flags.get("runtime")?.value ?? "auto";
  if (requestedRuntime !== "auto" && requestedRuntime !== runtime.id)
    throw usageError(
      `--runtime ${requestedRuntime}: campaign ${campaign} runs on ${runtime.id} and must continue there`,
    );
  if (!settings) throw usageError(`the manifest of ${campaign} holds no settings`);

  const recorded = new Map<string, SettingValue>(
    Object.entries(settings).map(([key, value]) => [
      key,
      { source: `campaign ${campaign}: ${key}`, value },
    ]),
  );
  // The recorded runtime is the one that `auto` was resolved to.
  recorded.set("runtime", { source: `campaign ${campaign}: runtime`, value: runtime.id });

  const variables = new Map([...environment].filter(([key]) => variableKeys.includes(key)));
  for (const [key, { source, value }] of environment) {
    if (!variableKeys.includes(key) && value !== settings[key])
      notices.push(`${source} is ignored: ${campaign} keeps its settings`);
  }
  return [recorded, variables, new Map([...flags].filter(([key]) => key !== "runtime"))];
}

/** @throws usageError for headers of apps, whose values no manifest holds, that are not given again */
function requireHeaders({ entries }: Request, { plan, campaign }: Manifest): void {
  const [planned] = plan.configurations.flatMap(
    ({ configuration }) => configuration.workload.endpoint ?? [],
  );
  const names = Object.keys(planned?.headers ?? {});
  const namesNow = Object.keys(entries.request?.headers ?? {});
  if (planned === undefined || names.join() === namesNow.join()) return;
  const expected = names.length > 0 ? names.join(", ") : "none";
  throw usageError(`campaign ${campaign} sends these headers: ${expected}: give --header for each`);
}

/**
 * The request with the recorded workers and caps.
 * @throws usageError where only one of campaign and request uses an external store
 */
export function resumedRequest(request: Request, { manifest }: ExistingCampaign): Request {
  const { plan, runtime, generator, campaign } = manifest;
  requireHeaders(request, manifest);
  const external = plan.configurations.some(({ configuration }) => configuration.external_store);
  if (external && !request.place.storeAccess.STORE_URL)
    throw usageError(
      `campaign ${campaign} measures a store that already runs: set STORE_URL again`,
    );
  if (!external && request.place.storeAccess.STORE_URL)
    throw usageError(
      `STORE_URL: campaign ${campaign} starts its stores itself and must continue so`,
    );
  const caps = runtime.caps ?? request.place.caps;
  return { ...request, place: { ...request.place, workers: generator.workers, caps } };
}
