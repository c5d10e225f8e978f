import { setTimeout as sleep } from "node:timers/promises";
import { environmentError } from "../kit/errors.js";
import type { RestartablePart } from "./restartable-part.js";
import type { Exit, Part, ReadyAnswer, RunningPart } from "./runtime-types.js";

const READY_WITHIN_MS = 30_000;
const RETRY_AFTER_MS = 25;
/** The time between checks that start a process, while a part prints nothing. */
const CHECK_EVERY_MS = 500;

/**
 * A program that prints the status and the body of an answer, or why there is none. It runs beside
 * the part, whose network may not be reached from here.
 */
const GET = `
const headers = JSON.parse(process.env.REQUEST_HEADERS ?? "{}");
const request = require("node:http").get(process.argv[1], { agent: false, headers }, (answer) => {
  process.stdout.write(answer.statusCode + "\\n");
  answer.pipe(process.stdout);
});
request.setTimeout(10_000, () => request.destroy(new Error("no answer within 10 s")));
request.on("error", (error) => process.stdout.write(error.message));`;

/** Starts a process beside a part. */
type Execute = (
  command: readonly string[],
  environment: Readonly<Record<string, string>>,
) => Promise<Pick<RunningPart, "output">>;

/**
 * Sends a GET request by a process beside a part. The headers are no arguments, which all processes
 * of a machine can read.
 * @throws Error where there is no answer
 */
export async function getBeside(
  execute: Execute,
  url: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<ReadyAnswer> {
  const variables = { REQUEST_HEADERS: JSON.stringify(headers) };
  const printed = await (await execute(["node", "-e", GET, url], variables)).output();
  const { status, text = "" } = /^(?<status>\d{3})\n(?<text>.*)$/s.exec(printed)?.groups ?? {};
  if (status === undefined) throw new Error(printed || "no answer");
  return { status: Number(status), text };
}

/** Asks a part whether it is ready, and keeps what the last answer says where it is not. */
export class ReadyQuestion {
  readonly #part: Part;
  readonly #remedy: string;
  readonly #get: (ready: NonNullable<Part["ready"]>) => Promise<ReadyAnswer>;
  #status: number | undefined;

  /**
   * @param remedy what to do where nothing answers
   * @param get sends the request of the question once
   */
  constructor(
    part: Part,
    remedy: string,
    get: (ready: NonNullable<Part["ready"]>) => Promise<ReadyAnswer>,
  ) {
    this.#part = part;
    this.#remedy = remedy;
    this.#get = get;
  }

  async ask(): Promise<boolean> {
    const { ready } = this.#part;
    if (!ready) return true;
    try {
      const answer = await this.#get(ready);
      this.#status = answer.status;
      return ready.accepts(answer);
    } catch {
      return false;
    }
  }

  /** What a person must know whose app does not become ready; undefined for our own parts. */
  text(): string | undefined {
    const { name, ready } = this.#part;
    if (name === undefined || !ready) return undefined;
    if (this.#status !== undefined) return `it answers GET ${ready.path} with ${this.#status}`;
    return `nothing answers at the port that PORT names, ${this.#remedy}`;
  }
}

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
 * @param place the part's place as seen from where it is asked
 * @param execute starts a process there
 * @throws environmentError as `waitUntilReady`
 */
export async function waitForAnswer(
  part: Part,
  running: RunningPart & Pick<RestartablePart, "printed">,
  { host, port }: { host: string; port: number },
  execute: Execute,
): Promise<void> {
  if (!part.ready) return;
  const remedy = `which was ${port}: it must listen on 0.0.0.0, and not on 127.0.0.1 alone`;
  const question = new ReadyQuestion(part, remedy, ({ path, headers }) =>
    getBeside(execute, `http://${host}:${port}${path}`, headers),
  );
  const beforeCheck = () =>
    Promise.race([running.printed?.firstOutput, running.exited, sleep(CHECK_EVERY_MS)]);
  const shown = { name: part.name, answer: () => question.text() };
  await waitUntilReady(running, () => question.ask(), beforeCheck, shown);
}
