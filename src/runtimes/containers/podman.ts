import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { execa } from "execa";
import { z } from "zod";
import { parsedJson } from "../json.js";
import { endProcess, startTimeOf } from "../processes.js";
import type { Leftover, Owner, RuntimeDescription } from "../types.js";
import { containerRuntime } from "./description.js";
import { engineAt } from "./engine.js";

const LISTENS_WITHIN_MS = 10_000;
/** The service ends by itself after this time without a request. */
const IDLE_S = 900;

/** Prefix of the service's folders, and the file in them that names the owner. */
const FOLDER_PREFIX = "ratelimit-bench-podman-";
const OWNER_FILE = "service.json";
const processSchema = z.strictObject({ pid: z.int(), started: z.string() });
const ownerSchema = z.strictObject({ owner: processSchema, service: processSchema });

async function identityOf(pid: number): Promise<z.infer<typeof processSchema>> {
  return { pid, started: (await startTimeOf(pid)) ?? "" };
}

/** Services whose owner is dead, with their folders. */
export async function orphanedServices(isAlive: (owner: Owner) => Promise<boolean>): Promise<Leftover[]> {
  const found: Leftover[] = [];
  for (const name of await readdir(tmpdir()).catch(() => [])) {
    if (!name.startsWith(FOLDER_PREFIX)) continue;
    const folder = join(tmpdir(), name);
    const text = await readFile(join(folder, OWNER_FILE), "utf8").catch(() => "{}");
    const record = ownerSchema.safeParse(parsedJson(text)).data;
    if (!record || (await isAlive(record.owner))) continue;
    found.push({
      what: `the Podman service in ${folder} that was left behind`,
      async remove() {
        const { pid, started } = record.service;
        if ((await startTimeOf(pid)) === started) await endProcess(pid);
        await rm(folder, { recursive: true, force: true });
      },
    });
  }
  return found;
}

const podmanService = containerRuntime({
  id: "podman",
  name: "Podman",
  async connect() {
    const { failed } = await execa("podman", ["--version"], {
      reject: false,
      timeout: 10_000,
      stdin: "ignore",
    });
    if (failed) throw new Error("Podman is not installed");
    const folder = await mkdtemp(join(tmpdir(), FOLDER_PREFIX));
    const socketPath = join(folder, "podman.sock");
    const service = execa("podman", ["system", "service", `--time=${IDLE_S}`, `unix://${socketPath}`], {
      reject: false,
      stdin: "ignore",
      stdout: "ignore",
      // Ctrl-C in the terminal must only reach the orchestrator, which needs the service for the clean-up.
      detached: true,
      cleanup: true,
    });
    if (service.pid !== undefined) {
      const record = { owner: await identityOf(process.pid), service: await identityOf(service.pid) };
      await writeFile(join(folder, OWNER_FILE), JSON.stringify(record));
    }
    const close = async (): Promise<void> => {
      service.kill();
      await service;
      await rm(folder, { recursive: true, force: true });
    };
    const docker = await engineAt({ socketPath });
    let ended = false;
    service.then(() => {
      ended = true;
    });
    const deadline = Date.now() + LISTENS_WITHIN_MS;
    for (;;) {
      const answers = await docker.ping().then(
        () => true,
        () => false,
      );
      if (answers) break;
      if (ended || Date.now() > deadline) {
        await close();
        const { stderr } = await service;
        throw new Error(
          `Podman's service does not start: ${stderr?.split("\n").at(-1) || "it printed nothing"}`,
        );
      }
      await sleep(50);
    }
    return { id: "podman", name: "Podman", docker, builder: { binary: "podman", environment: {} }, close };
  },
});

/**
 * Containers on Podman, with or without root, by its Docker-compatible API. The runtime starts the API service and stops
 * it again, so that the user need not set it up.
 */
export const podman: RuntimeDescription = {
  ...podmanService,
  async leftovers(isAlive) {
    return [...(await podmanService.leftovers(isAlive)), ...(await orphanedServices(isAlive))];
  },
};
