import { rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { execa } from "execa";
import { recordService, serviceFolder } from "../processes.js";
import type { RuntimeDescription } from "../runtime-types.js";
import { containerRuntime } from "./container-description.js";
import { type EngineAccess, socketAt } from "./endpoint.js";

const LISTENS_WITHIN_MS = 10_000;
/** The service ends by itself after this time without a request. */
const IDLE_S = 900;

export const PODMAN_SERVICE = { prefix: "ratelimit-bench-podman-", what: "the Podman service" };

async function connectToPodman(): Promise<EngineAccess> {
  const { failed } = await execa("podman", ["--version"], {
    reject: false,
    timeout: 10_000,
    stdin: "ignore",
  });
  if (failed) throw new Error("Podman is not installed");
  const folder = await serviceFolder(PODMAN_SERVICE);
  const socketPath = join(folder, "podman.sock");
  const service = execa(
    "podman",
    ["system", "service", `--time=${IDLE_S}`, `unix://${socketPath}`],
    {
      reject: false,
      stdin: "ignore",
      stdout: "ignore",
      // Ctrl-C in the terminal must only reach the orchestrator, which needs the service for the
      // clean-up.
      detached: true,
      cleanup: true,
    },
  );
  if (service.pid !== undefined) await recordService(folder, service.pid);
  const connection = await socketAt(socketPath, "Podman");
  const close = async (): Promise<void> => {
    connection.close();
    service.kill();
    await service;
    await rm(folder, { recursive: true, force: true });
  };
  let ended = false;
  service.then(() => {
    ended = true;
  });
  const deadline = performance.now() + LISTENS_WITHIN_MS;
  for (;;) {
    const answers = await connection.docker.ping().then(
      () => true,
      () => false,
    );
    if (answers) break;
    if (ended || performance.now() > deadline) {
      await close();
      const { stderr } = await service;
      throw new Error(
        `Podman's service does not start: ${stderr?.split("\n").at(-1) || "it printed nothing"}`,
      );
    }
    await sleep(50);
  }
  return { connection, builder: { binary: "podman", environment: {} }, close };
}

/** Podman, by its Docker-compatible API, whose service the runtime starts and stops. */
export const podman: RuntimeDescription = containerRuntime({
  id: "podman",
  engines: [{ name: "Podman", connect: connectToPodman }],
  service: PODMAN_SERVICE,
});
