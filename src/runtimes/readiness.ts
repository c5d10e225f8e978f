import { setTimeout as sleep } from "node:timers/promises";
import { environmentError } from "../kit/errors.js";
import type { RestartablePart } from "./restartable-part.js";
import type { Exit, Part, RunningPart } from "./runtime-types.js";

const READY_WITHIN_MS = 30_000;
const RETRY_AFTER_MS = 25;
/** The time between checks that start a process, while a part prints nothing. */
const CHECK_EVERY_MS = 500;

/**
 * A program that prints the body of an answer. It runs beside the part, whose network may not be
 * reached from here.
 */
const GET =
  'require("node:http").get(process.argv[1], { agent: false }, (answer) => answer.pipe(process.stdout))';
/** The program prints no status, and a part of ours that answers at all has this one. */
const ANSWERED = 200;

/**
 * Waits until a part is ready.
 * @param isReady checks once
 * @param beforeCheck delays each check, where checks are expensive
 * @param shown what the message calls the part, and what it last answered
 * @throws environmentError with the part's last line where it ends, or is not ready in time
 */
export async function waitUntilReady(
  running: RunningPart,
  isReady: () => Promise<boolean>,
  beforeCheck: () => Promise<unknown> = async () => {},
  shown: { name?: string | undefined; answer?: () => string | undefined } = {},
): Promise<void> {
  const { name = running.role, answer = () => undefined } = shown;
  let ended: Exit | undefined;
  running.exited.then((exit) => {
    ended = exit;
  });
  const deadline = performance.now() + READY_WITHIN_MS;
  const lastLine = () => running.lastLines().at(-1) || "it printed nothing";
  for (;;) {
    await beforeCheck();
    if (ended) {
      throw environmentError(`${name} ended with ${ended.code ?? ended.signal}: ${lastLine()}`, {
        cause: new Error(running.lastLines().join("\n")),
      });
    }
    if (await isReady()) return;
    if (performance.now() > deadline)
      throw environmentError(`${name} did not become ready: ${answer() ?? lastLine()}`);
    await sleep(RETRY_AFTER_MS);
  }
}

/**
 * Waits until a part in a container or pod answers. It is asked at once when it prints something.
 * @param place the part's place as seen from inside
 * @param exec starts a process beside the part
 * @throws environmentError as `waitUntilReady`
 */
export async function waitForAnswer(
  { ready }: Part,
  running: RunningPart & Pick<RestartablePart, "printed">,
  { host, port }: { host: string; port: number },
  exec: (command: readonly string[]) => Promise<Pick<RunningPart, "output">>,
): Promise<void> {
  if (!ready) return;
  const command = ["node", "-e", GET, `http://${host}:${port}${ready.path}`];
  const isReady = async (): Promise<boolean> => {
    const get = await exec(command).catch(() => undefined);
    const text = await get?.output();
    return Boolean(text && ready.accepts({ status: ANSWERED, text }));
  };
  await waitUntilReady(running, isReady, () =>
    Promise.race([running.printed?.firstOutput, running.exited, sleep(CHECK_EVERY_MS)]),
  );
}
