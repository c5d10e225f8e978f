import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { parsedJson } from "./json.js";
import { endProcess, startTimeOf } from "./processes.js";
import type { Leftover, Owner } from "./types.js";

const OWNER_FILE = "service.json";
const processSchema = z.strictObject({ pid: z.int(), started: z.string() });
const ownerSchema = z.strictObject({ owner: processSchema, service: processSchema });

async function identityOf(pid: number): Promise<z.infer<typeof processSchema>> {
  return { pid, started: (await startTimeOf(pid)) ?? "" };
}

/** A kind of process through which engines are reached. */
export interface ServiceKind {
  /** Of the names of their folders. */
  prefix: string;
  /** Names one of them, e.g. `the Podman service`. */
  what: string;
}

export const serviceFolder = ({ prefix }: ServiceKind): Promise<string> => mkdtemp(join(tmpdir(), prefix));

export async function recordService(folder: string, pid: number): Promise<void> {
  const record = { owner: await identityOf(process.pid), service: await identityOf(pid) };
  await writeFile(join(folder, OWNER_FILE), JSON.stringify(record));
}

/** Services whose owner is dead, with their folders. */
export async function orphanedServices(
  { prefix, what }: ServiceKind,
  isAlive: (owner: Owner) => Promise<boolean>,
): Promise<Leftover[]> {
  const found: Leftover[] = [];
  for (const name of await readdir(tmpdir()).catch(() => [])) {
    if (!name.startsWith(prefix)) continue;
    const folder = join(tmpdir(), name);
    const text = await readFile(join(folder, OWNER_FILE), "utf8").catch(() => "{}");
    const record = ownerSchema.safeParse(parsedJson(text)).data;
    if (!record || (await isAlive(record.owner))) continue;
    found.push({
      what: `${what} in ${folder} that was left behind`,
      async remove() {
        await endProcess(record.service);
        await rm(folder, { recursive: true, force: true });
      },
    });
  }
  return found;
}
