import type Docker from "dockerode";
import { environmentError } from "../../contract/errors.js";
import type { Exit, Part } from "../types.js";
import { BriefPart } from "./brief.js";
import type { ContainerPart } from "./part.js";

const READY_WITHIN_MS = 30_000;
/** A part that prints nothing when it listens is asked this often. */
const ASK_EVERY_MS = 500;
/** Prints the body of an answer, from inside: a host need not reach into the engine's network. */
const GET =
  "fetch(process.argv[1]).then((answer) => answer.text()).then((body) => process.stdout.write(body))";

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

/** Waits until the part answers as it should. @throws environmentError with its last line when it does not */
export async function ready(docker: Docker, part: Part, running: ContainerPart): Promise<void> {
  if (!part.ready) return;
  let ended: Exit | undefined;
  running.exited.then((exit) => {
    ended = exit;
  });
  const deadline = Date.now() + READY_WITHIN_MS;
  const url = `http://127.0.0.1:${running.address.port}${part.ready.path}`;
  const last = () => running.lastLines().at(-1) || "it printed nothing";
  while (Date.now() < deadline) {
    await Promise.race([running.outputs?.spoken, running.exited, sleep(ASK_EVERY_MS)]);
    if (ended) throw environmentError(`${part.role} ended with ${ended.code ?? ended.signal}: ${last()}`);
    const asked = await BriefPart.run(docker, running.container, part, ["node", "-e", GET, url], {}).catch(
      () => undefined,
    );
    const body = await asked?.output();
    if (body && part.ready.accepts(parsed(body))) return;
    await sleep(25);
  }
  throw environmentError(`${part.role} did not become ready: ${last()}`);
}
