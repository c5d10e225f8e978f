import { mkdir, open, readdir, readFile, rm } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { environmentError } from "../contract/errors.js";
import { runtimes } from "../runtimes/index.js";
import { startTimeOf } from "../runtimes/process-identity.js";

const ownerSchema = z.strictObject({ pid: z.int(), started: z.string(), campaign: z.string() });
type Owner = z.infer<typeof ownerSchema>;

/** What a campaign has started and not yet given back. */
export const leaseSchema = z.strictObject({
  owner: ownerSchema,
  runtime: z.string(),
  workFolder: z.string(),
  parts: z.array(z.record(z.string(), z.union([z.string(), z.number()]))),
});
export type LeaseFile = z.infer<typeof leaseSchema>;

/** The user's state folder for this project, by the XDG rules. */
export function stateFolder(): string {
  const base = process.env.XDG_STATE_HOME || join(homedir(), ".local", "state");
  return join(base, "ratelimit-bench");
}

export const leasesFolder = (): string => join(stateFolder(), "leases");

const isAlive = async ({ pid, started }: Owner): Promise<boolean> => (await startTimeOf(pid)) === started;

export async function thisOwner(campaign: string): Promise<Owner> {
  return { pid: process.pid, started: (await startTimeOf(process.pid)) ?? "", campaign };
}

async function readJson<Shape>(path: string, schema: z.ZodType<Shape>): Promise<Shape | undefined> {
  const text = await readFile(path, "utf8").catch(() => undefined);
  if (text === undefined) return undefined;
  try {
    return schema.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/**
 * Takes the user's lock, so that two campaigns never load one machine. A lock of a dead owner is taken over.
 * @returns how to give it back
 * @throws environmentError naming the campaign that holds it
 */
export async function takeLock(campaign: string): Promise<() => Promise<void>> {
  const path = join(stateFolder(), "lock.json");
  await mkdir(stateFolder(), { recursive: true });
  const text = JSON.stringify(await thisOwner(campaign));
  for (let attempt = 0; attempt < 5; attempt++) {
    try {
      const file = await open(path, "wx");
      await file.writeFile(text);
      await file.close();
      return () => rm(path, { force: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") {
        throw environmentError(`${path} cannot be written: ${(error as Error).message}`);
      }
    }
    const holder = await readJson(path, ownerSchema);
    if (holder && (await isAlive(holder))) {
      throw environmentError(
        `campaign ${holder.campaign} is running (process ${holder.pid}): wait for it, or use --allow-parallel if its figures do not matter`,
      );
    }
    await rm(path, { force: true });
  }
  throw environmentError(`${path} is taken again and again by another campaign`);
}

/** Ends and removes what campaigns whose process died left behind. @returns one line for each such campaign */
export async function reclaimOrphans(): Promise<string[]> {
  const names = await readdir(leasesFolder()).catch(() => []);
  const told: string[] = [];
  for (const name of names.filter((entry) => entry.endsWith(".json"))) {
    const path = join(leasesFolder(), name);
    const lease = await readJson(path, leaseSchema);
    if (!lease || (await isAlive(lease.owner))) continue;
    const runtime = runtimes.find(({ id }) => id === lease.runtime);
    let ended = 0;
    for (const identity of [...lease.parts].reverse()) if (await runtime?.reclaim(identity)) ended++;
    await rm(lease.workFolder, { recursive: true, force: true });
    await rm(path, { force: true });
    told.push(
      `campaign ${lease.owner.campaign} had died: ended ${ended} of its processes, removed its folders`,
    );
  }
  return told;
}
