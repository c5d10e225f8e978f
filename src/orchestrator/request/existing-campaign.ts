import { readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { environmentError, messageOf, usageError } from "../../contract/errors.js";
import { type Manifest, manifestSchema } from "../../contract/manifest.js";
import type { Request } from "./request.js";
import type { Layer, SettingValue } from "./setting-layers.js";
import { SETTINGS, type Setting } from "./settings.js";

/** A campaign that has begun. */
export interface ExistingCampaign {
  /** Absolute, and no link. */
  folder: string;
  manifest: Manifest;
}

const keysOnResume = (kind: Setting["onResume"]): string[] =>
  SETTINGS.flatMap(({ key, onResume }) => (onResume === kind ? [key] : []));

const isStamp = (name: string): boolean => /^\d{8}_\d{6}$/.test(name);

/** What `--resume` stands for without a name. */
const NEWEST = "true";

/**
 * Finds the campaign to resume.
 * @param root results root @param asked its folder's name, or nothing in particular for the newest
 * @throws usageError when there is none, or what there is is none; environmentError when it lies elsewhere
 */
export function findCampaign(root: string, asked: string): ExistingCampaign {
  const absolute = resolve(root);
  const name = asked === NEWEST ? newest(absolute) : asked;
  if (name !== basename(name) || [".", ".."].includes(name) || name.startsWith("-"))
    throw usageError(
      `--resume ${shown(name)}: give the name of a campaign below --output, e.g. 20260102_030405`,
    );
  const path = join(absolute, name);
  if (!isFolder(path)) throw usageError(`--resume ${shown(name)}: there is no such campaign in ${absolute}`);
  const folder = realpathSync(path);
  if (dirname(folder) !== realpathSync(absolute))
    throw environmentError(`${path} leads out of the results folder, to ${folder}: nothing is written there`);
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

/** A campaign makes no links. One in its folder would have us write wherever it leads. */
function refuseLinks(folder: string): void {
  const link = readdirSync(folder, { withFileTypes: true }).find((entry) => entry.isSymbolicLink());
  if (link) throw environmentError(`${join(folder, link.name)} is a link: put what it leads to in its place`);
}

function manifestOf(folder: string): Manifest {
  const path = join(folder, "manifest.json");
  try {
    const { data, error } = manifestSchema.safeParse(JSON.parse(readFileSync(path, "utf8")));
    if (data) {
      requirePlainNames(data);
      return data;
    }
    const [issue] = error.issues;
    throw new Error(`${issue?.path.join(".") || "all of it"}: ${issue?.message}`);
  } catch (error) {
    throw usageError(`${path} is no manifest of a campaign: ${messageOf(error).slice(0, 200)}`, {
      cause: error,
    });
  }
}

/** What a manifest names is written to: none of it may lead elsewhere. @throws Error naming the field */
function requirePlainNames({ campaign, plan }: Manifest): void {
  const isPlain = (name: string) => /^[\w][\w.+-]*$/.test(name);
  if (!isPlain(campaign)) throw new Error(`campaign: ${shown(campaign)} is no name`);
  const wrong = plan.runs.find(({ file }) => !isPlain(file));
  if (wrong) throw new Error(`plan.runs: the file ${shown(wrong.file)} is no plain name`);
}

/**
 * What was said about a campaign that is resumed: its own settings, and the few that may be said again.
 * @throws usageError naming what contradicts it
 */
export function resumedPlaces(
  { manifest }: ExistingCampaign,
  environment: Layer,
  flags: Layer,
  notices: string[],
): Layer[] {
  const { campaign, settings, runtime } = manifest;
  const anew = keysOnResume("anew");
  const allowed = [...keysOnResume("flag"), ...anew];
  const wrong = [...flags].filter(([key]) => !allowed.includes(key)).map(([, value]) => value);
  if (wrong.length > 0) {
    const told = wrong.map(({ source }) => source).join(", ");
    throw usageError(
      `--resume goes on with the plan of ${campaign}: leave out ${told}, or start a new campaign`,
    );
  }
  const asked = flags.get("runtime")?.value ?? "auto";
  if (asked !== "auto" && asked !== runtime.id)
    throw usageError(
      `--runtime ${asked}: campaign ${campaign} runs on ${runtime.id}, and so does the rest of it`,
    );
  if (!settings) throw usageError(`the manifest of ${campaign} holds no settings: an older version wrote it`);
  const own = new Map<string, SettingValue>(
    Object.entries(settings).map(([key, value]) => [key, { source: `campaign ${campaign}: ${key}`, value }]),
  );
  const stores = new Map([...environment].filter(([key]) => anew.includes(key)));
  for (const [key, { source, value }] of environment) {
    if (!anew.includes(key) && value !== settings[key])
      notices.push(`${source} is not read: ${campaign} goes on as it began`);
  }
  // What `auto` found then is what it goes on with.
  own.set("runtime", { source: `campaign ${campaign}: runtime`, value: runtime.id });
  return [own, stores, new Map([...flags].filter(([key]) => key !== "runtime"))];
}

/** The request as the campaign began: what the machine made of it counts. @throws usageError */
export function asBegun(request: Request, { manifest }: ExistingCampaign): Request {
  const { plan, runtime, generator, campaign } = manifest;
  const external = plan.configurations.some(({ configuration }) => configuration.external_store);
  if (external && !request.storeAccess.STORE_URL)
    throw usageError(`campaign ${campaign} measures a store that already runs: name it again by STORE_URL`);
  if (!external && request.storeAccess.STORE_URL)
    throw usageError(`STORE_URL: campaign ${campaign} starts its stores itself, and so does the rest of it`);
  const caps = runtime.caps as Request["caps"] | undefined;
  return { ...request, workers: generator.workers, caps: caps ?? request.caps };
}
