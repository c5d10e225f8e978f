import { statfs } from "node:fs/promises";
import { tmpdir } from "node:os";
import { messageOf } from "../../contract/errors.js";
import { sum } from "../../contract/numbers.js";
import { type Plan, unitsOf } from "../../contract/plan.js";
import { nearestFolder } from "../files/folders.js";
import { leasesFolder } from "../ownership/state-folder.js";
import { configurationsOf, diskBytes } from "./estimate.js";
import { roleCounts } from "./role-counts.js";

/** Files that each program has open besides its connections: modules while it loads, pipes, threads. */
const OWN_FILES = 150;
/** What leases and files of parts need. */
const OWN_BYTES = 1e6;

export function openFilesNeeded(plan: Plan): number {
  const needs = [...unitsOf(plan, plan.runs)].map((unit) =>
    sum(
      configurationsOf(plan, unit).map((configuration) => {
        const { generator, store } = roleCounts(configuration);
        return Math.ceil(configuration.load.connections / Math.max(1, generator)) + store;
      }),
    ),
  );
  return OWN_FILES + Math.max(0, ...needs);
}

/** Node has raised the soft limit of this process to the hard limit; the programs that it starts inherit it. */
function openFilesAllowed(): number {
  const report = process.report.getReport() as {
    userLimits?: { open_files?: { soft: number | "unlimited" } };
  };
  const soft = report.userLimits?.open_files?.soft;
  return typeof soft === "number" ? soft : Number.POSITIVE_INFINITY;
}

export function filesReason(plan: Plan, allowed = openFilesAllowed()): string | undefined {
  const needed = openFilesNeeded(plan);
  if (needed <= allowed) return undefined;
  return `${needed} open files are needed and ${allowed} are allowed: raise the hard limit (ulimit -Hn ${needed}) or choose a lower --concurrency`;
}

/** Bytes that this user may still write there. @throws Error where no folder can be there */
async function freeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(await nearestFolder(folder));
  return bavail * bsize;
}

const megabytes = (bytes: number): string => `${Math.ceil(bytes / 1e6)} MB`;

export async function diskReason(plan: Plan, results: string, free = freeBytes): Promise<string | undefined> {
  const places = [
    {
      name: "results folder",
      folder: results,
      needed: diskBytes(plan),
      remedy: "--output names another one",
    },
    {
      name: "state folder",
      folder: leasesFolder(),
      needed: OWN_BYTES,
      remedy: "XDG_STATE_HOME sets another one",
    },
    {
      name: "folder for temporary files",
      folder: tmpdir(),
      needed: OWN_BYTES,
      remedy: "TMPDIR sets another one",
    },
  ];
  for (const { name, folder, needed, remedy } of places) {
    const found = await free(folder).catch(messageOf);
    if (typeof found === "string") return `${name} ${folder} cannot be used (${found}): ${remedy}`;
    if (found < needed)
      return `${name} ${folder} has ${megabytes(found)} free, and ${megabytes(needed)} are needed: free some, or ${remedy}`;
  }
  return undefined;
}

export const roomReason = async (plan: Plan, runtime: string, results: string): Promise<string | undefined> =>
  (runtime === "local" ? filesReason(plan) : undefined) ?? diskReason(plan, results);
