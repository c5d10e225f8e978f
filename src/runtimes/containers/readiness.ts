import { setTimeout as sleep } from "node:timers/promises";
import type Docker from "dockerode";
import { parsedJson } from "../json.js";
import { waitUntilReady } from "../readiness.js";
import type { Part } from "../types.js";
import { ExecPart } from "./exec-part.js";
import type { ContainerPart } from "./part.js";

/** Interval of the checks while a part prints nothing. A check starts a process in the container. */
const CHECK_EVERY_MS = 500;
/** Prints the body of an answer. It runs in the container, because the host may not reach the engine's network. */
const GET =
  "fetch(process.argv[1]).then((answer) => answer.text()).then((body) => process.stdout.write(body))";

/** Waits until the part answers as expected. @throws environmentError with its last line when it does not */
export async function waitForAnswer(docker: Docker, part: Part, running: ContainerPart): Promise<void> {
  const { ready } = part;
  if (!ready) return;
  const command = ["node", "-e", GET, `http://127.0.0.1:${running.address.port}${ready.path}`];
  const isReady = async (): Promise<boolean> => {
    const get = await ExecPart.run(docker, running.container, part, command, {}).catch(() => undefined);
    const body = await get?.output();
    return Boolean(body && ready.accepts(parsedJson(body)));
  };
  await waitUntilReady(running, isReady, () =>
    Promise.race([running.engineOutput?.firstOutput, running.exited, sleep(CHECK_EVERY_MS)]),
  );
}
