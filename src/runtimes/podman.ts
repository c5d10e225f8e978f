import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execa } from "execa";
import { z } from "zod";
import { containersOn } from "./containers/describe.js";
import { engineAt } from "./containers/engine.js";
import { endProcess } from "./local-part.js";
import { startTimeOf } from "./process-identity.js";
import type { Leftover, Owner, RuntimeDescription } from "./types.js";

const LISTENS_WITHIN_MS = 10_000;
/** The service ends by itself once nobody has asked it anything for so long. */
const IDLE_S = 900;

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** How the names of its folders begin, and what in them says whose they are. */
const FOLDER = "ratelimit-bench-podman-";
const NOTE = "service.json";
const processSchema = z.strictObject({ pid: z.int(), started: z.string() });
const noteSchema = z.strictObject({ owner: processSchema, service: processSchema });

async function noteOf(pid: number): Promise<z.infer<typeof processSchema>> {
  return { pid, started: (await startTimeOf(pid)) ?? "" };
}

/** Services that owners who are dead have started, with their folders. */
export async function deadServices(isAlive: (owner: Owner) => Promise<boolean>): Promise<Leftover[]> {
  const found: Leftover[] = [];
  for (const name of await readdir(tmpdir()).catch(() => [])) {
    if (!name.startsWith(FOLDER)) continue;
    const folder = join(tmpdir(), name);
    const text = await readFile(join(folder, NOTE), "utf8").catch(() => "{}");
    const note = noteSchema.safeParse(parsed(text)).data;
    if (!note || (await isAlive(note.owner))) continue;
    found.push({
      what: `the Podman service in ${folder} that was left behind`,
      async remove() {
        const { pid, started } = note.service;
        if ((await startTimeOf(pid)) === started) await endProcess(pid);
        await rm(folder, { recursive: true, force: true });
      },
    });
  }
  return found;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const onService = containersOn({
  id: "podman",
  name: "Podman",
  async reach() {
    const { failed } = await execa("podman", ["--version"], {
      reject: false,
      timeout: 10_000,
      stdin: "ignore",
    });
    if (failed) throw new Error("Podman is not installed");
    const folder = await mkdtemp(join(tmpdir(), FOLDER));
    const socketPath = join(folder, "podman.sock");
    const service = execa("podman", ["system", "service", `--time=${IDLE_S}`, `unix://${socketPath}`], {
      reject: false,
      stdin: "ignore",
      stdout: "ignore",
      // Ctrl-C on the terminal is for the orchestrator alone, which still needs the service to give things back.
      detached: true,
      cleanup: true,
    });
    if (service.pid !== undefined) {
      const note = { owner: await noteOf(process.pid), service: await noteOf(service.pid) };
      await writeFile(join(folder, NOTE), JSON.stringify(note));
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
 * Containers on Podman, with or without root, by its Docker-compatible API. A service of our own listens for as long
 * as it is needed, so that nothing has to be set up.
 */
export const podman: RuntimeDescription = {
  ...onService,
  async leftovers(isAlive) {
    return [...(await onService.leftovers(isAlive)), ...(await deadServices(isAlive))];
  },
};
