import { existsSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { execa } from "execa";
import { type AppIdentity, appName, isApp } from "../../contract/app.js";
import type { Target } from "../../contract/target.js";
import { definedOnly } from "../../kit/defined-only.js";
import { shownRequest } from "../request/app-flags.js";
import type { NamedApp, RequestedApps } from "../request/request.js";
import type { StartedApp } from "../run/run-settings.js";

/** How a run of this target starts its app; undefined for a target that is no app. */
export function startedApp(
  requested: RequestedApps | undefined,
  target: Pick<Target, "client">,
): StartedApp | undefined {
  if (!requested || !isApp(target)) return undefined;
  const { apps, folder, request, readyPath, store } = requested;
  const app = apps.find(({ name }) => name === appName(target.client));
  if (!app) throw new Error(`${target.client} is no app of this campaign`);
  return definedOnly({
    origin: app.origin,
    parameters: app.image ? app.words : app.words.slice(1),
    folder,
    request,
    readyPath,
    storeVariable: store?.variable,
  });
}

/** The apps of a campaign by name; undefined without any. */
export async function appIdentities(
  requested: RequestedApps | undefined,
): Promise<Record<string, AppIdentity> | undefined> {
  if (!requested) return undefined;
  const identities = requested.apps.map(async (app) => {
    const isOfFolder = !app.origin && !app.image;
    const folder = isOfFolder ? sourceFolder(app, requested.folder) : undefined;
    const revision = folder === undefined ? undefined : await revisionIn(folder);
    return [app.name, definedOnly({ command: app.command, revision })] as const;
  });
  return Object.fromEntries(await Promise.all(identities));
}

/** Lines that say what each app is, and what it is asked. */
export async function appLines(requested: RequestedApps | undefined): Promise<string[]> {
  const identities = Object.entries((await appIdentities(requested)) ?? {});
  if (!requested) return [];
  const lines = identities.map(([name, { command, revision }]) => {
    const commit = revision === undefined ? "" : `, commit ${revision}`;
    return `the app ${name}: ${command}${commit}`;
  });
  const { path, headers = {} } = shownRequest(requested.request);
  const fields = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return [...lines, `each app is asked GET ${[path, ...fields].join(", ")}`];
}

/** The folder of the first file that a command names beside its program, or else its own. */
function sourceFolder({ words: [, ...parameters] }: NamedApp, folder: string): string {
  const files = parameters.map((word) => resolve(folder, word)).filter((path) => existsSync(path));
  const [first = folder] = files;
  return statSync(first).isDirectory() ? first : dirname(first);
}

/** The digits of a commit that tell it from others. */
const DIGITS = 12;

/** The commit that is checked out around a folder; undefined where there is none. */
async function revisionIn(folder: string): Promise<string | undefined> {
  const git = (...parameters: string[]) =>
    execa("git", ["-C", folder, ...parameters], { reject: false });
  const head = await git("rev-parse", `--short=${DIGITS}`, "HEAD");
  if (head.failed || head.stdout === "") return undefined;
  const status = await git("status", "--porcelain", "--untracked-files=no");
  return status.stdout ? `${head.stdout} with changes` : head.stdout;
}
