import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execa } from "execa";
import { containersOn } from "./containers/describe.js";
import { engineAt } from "./containers/engine.js";

const LISTENS_WITHIN_MS = 10_000;
/** The service ends by itself once nobody has asked it anything for so long. */
const IDLE_S = 900;

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * Containers on Podman, with or without root, by its Docker-compatible API. A service of our own listens for as long
 * as it is needed, so that nothing has to be set up.
 */
export const podman = containersOn({
  id: "podman",
  name: "Podman",
  async reach() {
    const { failed } = await execa("podman", ["--version"], {
      reject: false,
      timeout: 10_000,
      stdin: "ignore",
    });
    if (failed) throw new Error("Podman is not installed");
    const folder = await mkdtemp(join(tmpdir(), "ratelimit-bench-podman-"));
    const socketPath = join(folder, "podman.sock");
    const service = execa("podman", ["system", "service", `--time=${IDLE_S}`, `unix://${socketPath}`], {
      reject: false,
      stdin: "ignore",
      stdout: "ignore",
      // Ctrl-C on the terminal is for the orchestrator alone, which still needs the service to give things back.
      detached: true,
      cleanup: true,
    });
    const close = async (): Promise<void> => {
      service.kill();
      await service;
      await rm(folder, { recursive: true, force: true });
    };
    const docker = engineAt({ socketPath });
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
