import { hash, randomBytes } from "node:crypto";
import { join } from "node:path";
import { Writable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import type { V1ContainerState, V1Pod } from "@kubernetes/client-node";
import { within } from "../../kit/deadline.js";
import type { Node } from "../../kit/env.js";
import { environmentError, messageOf } from "../../kit/errors.js";
import { type GroupVersion, networkOf, separate, unified } from "../containers/control-group.js";
import { deferred } from "../deferred.js";
import { ExecutedPart } from "../exec-part.js";
import { LineClient, lineWriter, PartOutput, SplitOutput } from "../part-output.js";
import { RestartablePart } from "../restartable-part.js";
import { type RunDelays, type ThreadTimes, threadTimesOf } from "../run-delay.js";
import type { Caps, Exit, Part, PartCounters, RunningPart } from "../runtime-types.js";
import type { ExecProcess, Following, KubernetesApi, PodWatch } from "./api.js";
import { apiFailure, podFailure } from "./failures.js";
import { CONTAINER, GRACE_S } from "./pod.js";
import {
  commandLine,
  INPUT_COMMAND,
  quoted,
  SUPERVISOR_FOLDER,
  sessionCommand,
} from "./supervisor.js";

export class PodExecPart extends ExecutedPart {
  readonly exited: Promise<Exit>;
  readonly #process: ExecProcess;

  private constructor(part: Part, process: ExecProcess, machine: string | undefined) {
    const output = new PartOutput(process.stdout, process.stderr);
    const client = part.interactive ? new LineClient(process.stdin, process.stdout) : undefined;
    super(part, machine, output, client);
    this.#process = process;
    this.exited = process.exited.then((code) => {
      output.finish();
      return code === undefined
        ? {
            code: null,
            signal: `the loss of the connection to its pod${machine ? ` on the node ${machine}` : ""}`,
          }
        : { code, signal: null };
    });
  }

  static async run(
    api: KubernetesApi,
    pod: { name: string; machine: string | undefined },
    part: Part,
    command: readonly string[],
    environment: Readonly<Record<string, string>>,
  ): Promise<PodExecPart> {
    const process = await api.exec(pod.name, CONTAINER, ["/bin/sh", "-c", INPUT_COMMAND]);
    process.stdin.write(commandLine(command, environment));
    return new PodExecPart(part, process, pod.machine);
  }

  /** It ends with its input, or with its pod. */
  async stop(): Promise<void> {
    this.client?.end();
    const timer = setTimeout(() => this.#process.close(), 2_000);
    timer.unref();
    this.exited.then(() => clearTimeout(timer));
  }
}

const ROOT = "/sys/fs/cgroup";
const NETWORK = "/proc/net/dev";
const pathsOf = ({ files }: GroupVersion): string[] =>
  files.map(({ controller, name }) => join(ROOT, controller, name));

/**
 * Prints files, each after a line with its path. Only the shell itself works: a process would be
 * counted.
 */
const show = (paths: readonly string[]): string =>
  `for f in ${paths.join(" ")}; do echo "== $f"; while IFS= read -r l; do echo "$l"; done <$f; done`;

/**
 * A shell line that prints the files with a pod's counters, whichever version its control groups
 * have.
 */
const READ_COUNTERS = `if [ -f ${ROOT}/cpu.stat ]; then ${show([...pathsOf(unified), NETWORK])}; else ${show([...pathsOf(separate), NETWORK])}; fi`;

/** The counters in what `READ_COUNTERS` printed. @throws Error when a file is missing */
export function countersIn(printed: string, ownNetwork: boolean): PartCounters {
  const texts = new Map<string, string>();
  for (const section of `\n${printed}`.split("\n== ").slice(1)) {
    const end = section.indexOf("\n");
    texts.set(section.slice(0, end), section.slice(end + 1));
  }
  const textOf = (path: string): string => {
    const text = texts.get(path);
    if (!text) throw new Error(`its pod has no ${path}`);
    return text;
  };
  const version = texts.has(`${ROOT}/cpu.stat`) ? unified : separate;
  return {
    ...version.countersIn(pathsOf(version).map(textOf)),
    ...(ownNetwork ? { network: networkOf(textOf(NETWORK)) } : {}),
  };
}

/** A shell line that prints the run delay of each thread in a pod. */
const READ_RUN_DELAYS =
  'for f in /proc/[0-9]*/task/[0-9]*/schedstat; do { read -r l <"$f" && echo "$f $l"; } 2>/dev/null; done; true';

function runDelaysIn(printed: string): RunDelays | undefined {
  const delays = new Map<string, ThreadTimes>();
  for (const line of printed.split("\n")) {
    const [path = "", ...text] = line.split(" ");
    const times = threadTimesOf(text.join(" "));
    if (path.startsWith("/proc/") && times) delays.set(path, times);
  }
  return delays.size > 0 ? delays : undefined;
}

/** What the supervisor says in the log. */
export type SupervisorMessage =
  | { is: "started" }
  | { is: "down" }
  /** Standard output, whole: by the log, or to be fetched. */
  | { is: "output"; bytes: number; sha256: string; text?: Buffer }
  | { is: "end"; code: number; forMemory: boolean };

const NEWLINE = 0x0a;

export class LogReader extends Writable {
  readonly #mark: string;
  readonly #onStderr: (chunk: Buffer) => void;
  readonly #onMessage: (message: SupervisorMessage) => void;
  #rest = Buffer.alloc(0);
  /** Standard output that is being read: how many bytes are expected, and those so far. */
  #output: { bytes: number; sha256: string; chunks: Buffer[]; missing: number } | undefined;
  /** An empty line that may belong to a message that follows it. */
  #emptyLine = false;
  /** Bytes of the log that were read. A log that is followed again begins after them. */
  bytes = 0;

  constructor(
    mark: string,
    onStderr: (chunk: Buffer) => void,
    onMessage: (message: SupervisorMessage) => void,
  ) {
    super();
    this.#mark = mark;
    this.#onStderr = onStderr;
    this.#onMessage = onMessage;
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.bytes += chunk.length;
    this.#read(chunk);
    done();
  }

  #read(given: Buffer): void {
    let chunk = given;
    while (chunk.length > 0) {
      if (this.#output) {
        const part = chunk.subarray(0, this.#output.missing);
        this.#output.chunks.push(part);
        this.#output.missing -= part.length;
        chunk = chunk.subarray(part.length);
        if (this.#output.missing === 0) this.#endOutput();
        continue;
      }
      const at = chunk.indexOf(NEWLINE);
      if (at < 0) {
        this.#rest = Buffer.concat([this.#rest, chunk]);
        return;
      }
      const line = Buffer.concat([this.#rest, chunk.subarray(0, at)]);
      this.#rest = Buffer.alloc(0);
      chunk = chunk.subarray(at + 1);
      this.#readLine(line);
    }
  }

  #endOutput(): void {
    if (!this.#output) return;
    const { bytes, sha256, chunks } = this.#output;
    this.#output = undefined;
    const text = Buffer.concat(chunks);
    this.#onMessage({
      is: "output",
      bytes,
      sha256,
      ...(hash("sha256", text) === sha256 ? { text } : {}),
    });
  }

  #readLine(line: Buffer): void {
    const words = line.length < 256 ? line.toString("utf8").split(" ") : [];
    if (words[0] !== this.#mark) {
      if (this.#emptyLine) this.#onStderr(Buffer.from("\n"));
      this.#emptyLine = line.length === 0;
      if (!this.#emptyLine) this.#onStderr(Buffer.concat([line, Buffer.from("\n")]));
      return;
    }
    // The supervisor begins a line of its own: an unfinished line of the program is then a line, an
    // empty one nothing.
    this.#emptyLine = false;
    const [, is, first = "", second = ""] = words;
    if (is === "started" || is === "down") this.#onMessage({ is });
    else if (is === "stored")
      this.#onMessage({ is: "output", bytes: Number(first), sha256: second });
    else if (is === "end")
      this.#onMessage({ is: "end", code: Number(first), forMemory: second === "memory" });
    else if (is === "output") {
      this.#output = { bytes: Number(first), sha256: second, chunks: [], missing: Number(first) };
      if (this.#output.missing === 0) this.#endOutput();
    }
  }
}

/** Long enough for a node that is busy: only one that hangs takes longer. */
const ANSWER_WITHIN_MS = 15_000;
const SEE_NODES = ": see `kubectl get nodes`, then run again";

/**
 * A shell in a pod that runs short commands, one after the other, at the cost of one connection.
 */
function podSession(api: KubernetesApi, pod: string, nodeOf: () => string) {
  let connection: Promise<Connection> | undefined;
  let last: Promise<unknown> = Promise.resolve();
  let isClosed = false;
  const disconnect = () => void connection?.then((open) => open.close()).catch(() => {});
  const runOnce = async (line: string): Promise<string> => {
    if (isClosed) throw new Error("its pod is gone");
    connection ??= api
      .exec(pod, CONTAINER, ["/bin/sh"])
      .then((process) => connectionTo(process, nodeOf()));
    try {
      const { printed, code } = await (await connection).ask(line);
      if (code !== 0) throw new CommandFailed(`a command in its pod ended with ${code}`);
      return printed;
    } catch (error) {
      // The next command makes a new connection.
      if (!(error instanceof CommandFailed)) {
        disconnect();
        connection = undefined;
      }
      throw error;
    }
  };
  return {
    /**
     * What a command line of the shell printed. @throws Error when it failed, or no answer came in
     * time
     */
    run(line: string): Promise<string> {
      const work = last.then(() => runOnce(line));
      last = work.catch(() => {});
      return work;
    },
    close(): void {
      isClosed = true;
      disconnect();
    },
  };
}

class CommandFailed extends Error {}

type Connection = ReturnType<typeof connectionTo>;

function connectionTo(process: ExecProcess, node: string) {
  const mark = randomBytes(9).toString("hex");
  const place = `its pod on the node ${node}`;
  let text = "";
  let onText: () => void = () => {};
  let hasEnded = false;
  process.stderr.resume();
  process.stdout.on("data", (chunk: Buffer) => {
    text += chunk.toString("latin1");
    onText();
  });
  process.exited.then(() => {
    hasEnded = true;
    onText();
  });
  return {
    ask(line: string): Promise<{ printed: string; code: number }> {
      process.stdin.write(sessionCommand(mark, line));
      const end = new RegExp(`\\n${mark} (\\d+)\\n`);
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          onText = () => {};
          reject(
            new Error(`${place} did not answer within ${ANSWER_WITHIN_MS / 1000} s${SEE_NODES}`),
          );
        }, ANSWER_WITHIN_MS);
        onText = () => {
          const found = end.exec(text);
          if (!found && !hasEnded) return;
          clearTimeout(timer);
          onText = () => {};
          if (!found) return reject(new Error(`the connection to ${place} was lost${SEE_NODES}`));
          const printed = Buffer.from(text.slice(0, found.index), "latin1").toString("utf8");
          text = text.slice(found.index + found[0].length);
          resolve({ printed, code: Number(found[1]) });
        };
        onText();
      });
    },
    close(): void {
      process.stdin.end();
      process.close();
    },
  };
}

/** How long a pod may wait for a place: a cluster may be about to free one. */
const PLACE_WITHIN_MS = 30_000;
/** How long it may take for everything else, e.g. the pull of an image. */
const RUN_WITHIN_MS = 300_000;
/** After the end of a pod its log may still be on its way. */
const LOG_WITHIN_MS = 4_000;
/**
 * The supervisor ends its program within milliseconds. A pod that does not answer is deleted all
 * the same.
 */
const END_WITHIN_MS = 2_000;
/** From a command to the supervisor until it says that it is done. */
const DONE_WITHIN_MS = 10_000;

type PodContext = { api: KubernetesApi; watch: PodWatch; ownNetwork: boolean };

export class PodPart extends RestartablePart implements RunningPart {
  readonly name: string;
  readonly onThisMachine = false;
  readonly write?: (line: string) => void;
  readonly mark = randomBytes(9).toString("hex");
  caps: Caps = {};
  pod: V1Pod | undefined;
  /** From the pod's log, taken apart. */
  readonly printed = new SplitOutput();
  readonly #context: PodContext;
  readonly #ports: Omit<Node, "host">;
  readonly #session: ReturnType<typeof podSession>;
  readonly #reader: LogReader;
  readonly #messageListeners = new Set<(message: SupervisorMessage) => void>();
  #log: Following | undefined;
  #forget: () => void = () => {};
  #hasEnded = false;
  /** Its end is told, by the log or by the cluster. */
  #isEnding = false;
  #untilReady: () => Promise<void> = async () => {};

  constructor(part: Part, name: string, ports: Omit<Node, "host">, context: PodContext) {
    super(part.role);
    this.name = name;
    this.#ports = ports;
    this.#context = context;
    this.#session = podSession(context.api, name, () => this.machine);
    this.#reader = new LogReader(
      this.mark,
      (chunk) => this.printed.stderr.write(chunk),
      (message) => this.#onMessage(message),
    );
    if (part.takesInput) {
      const input = new Writable({
        write: (chunk: Buffer, _encoding, done) => {
          const line = quoted(chunk.toString("utf8"));
          const sent = this.#session.run(`printf %s ${line} >${SUPERVISOR_FOLDER}/input`);
          // It may have ended. That is seen elsewhere.
          sent.catch(() => {}).finally(done);
        },
      });
      this.write = lineWriter(input);
    }
  }

  get address(): Node {
    return { host: this.pod?.status?.podIP ?? "", ...this.#ports };
  }

  get machine(): string {
    return this.pod?.spec?.nodeName ?? "";
  }

  /** The image that the node has, as the container runtime there names it. */
  get imageId(): string {
    const id = this.pod?.status?.containerStatuses?.[0]?.imageID ?? "";
    return id.split("@").at(-1) ?? id;
  }

  /**
   * Waits until the pod runs and is ready, and follows its log. @throws environmentError with the
   * fix
   */
  async run(untilReady: () => Promise<void>): Promise<void> {
    this.#untilReady = untilReady;
    await this.#untilRunning();
    this.refuseIfStopped();
    this.#followPod();
    await this.#followLog();
    // The first command makes the connection, so that the first reading does not have to.
    if (!this.#isEnding) await this.#session.run("true").catch((error) => this.#orEnded(error));
    await untilReady();
  }

  async #orEnded(error: unknown): Promise<void> {
    // The program may have ended meanwhile, which is told elsewhere.
    await Promise.race([this.exited, sleep(LOG_WITHIN_MS)]);
    if (this.#hasEnded) return;
    throw environmentError(
      `${this.role} cannot be reached in its pod: ${apiFailure(error, this.#context.api)}`,
      { cause: error },
    );
  }

  async #untilRunning(): Promise<void> {
    const began = performance.now();
    const { api, watch } = this.#context;
    let onChange: () => void = () => {};
    let isGone = false;
    const forget = watch.onChange(this.name, (pod) => {
      if (pod) this.pod = pod;
      else isGone = true;
      onChange();
    });
    try {
      for (;;) {
        this.refuseIfStopped();
        const changed = deferred();
        onChange = changed.resolve;
        const state = stateOf(this.pod);
        if (state?.running && this.pod?.status?.podIP) return;
        if (state?.terminated && !isKilled(state)) return;
        const waited_ms = performance.now() - began;
        // Events cost a request, so they are read only where a pod takes its time.
        const events = waited_ms > 5_000 ? await api.events(this.name) : [];
        const failure =
          this.pod || isGone ? podFailure(isGone ? undefined : this.pod, events) : undefined;
        const isLate = waited_ms > (this.machine ? RUN_WITHIN_MS : PLACE_WITHIN_MS);
        if (failure?.isFinal || isLate) {
          const text =
            failure?.text ?? `its pod did not run within ${Math.round(waited_ms / 1000)} s`;
          throw environmentError(`${this.role} cannot be started: ${text}`);
        }
        await Promise.race([changed.promise, sleep(2_000)]);
      }
    } finally {
      forget();
    }
  }

  /**
   * Notices an end that the log does not tell: of the whole container, of the pod, or of its node.
   */
  #followPod(): void {
    this.#forget = this.#context.watch.onChange(this.name, (pod) => {
      if (pod) this.pod = pod;
      if (this.isStopped || this.#isEnding) return;
      const failure = podFailure(pod);
      const { terminated } = stateOf(pod) ?? {};
      if (!failure?.isFinal && !terminated) return;
      void this.#endWithoutLog(
        terminated?.exitCode,
        isKilled(stateOf(pod)) || !terminated
          ? `a failure of its pod: ${failure?.text}`
          : undefined,
      );
    });
  }

  async #endWithoutLog(code: number | undefined, reason: string | undefined): Promise<void> {
    await sleep(LOG_WITHIN_MS);
    if (this.#isEnding || this.isStopped) return;
    this.#isEnding = true;
    await this.#end({ code: reason === undefined ? (code ?? null) : null, signal: reason ?? null });
  }

  /** Follows the log to its end, again where the connection was lost. */
  async #followLog(): Promise<void> {
    const { api } = this.#context;
    let toSkip = this.#reader.bytes;
    const sink = new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        const fresh = chunk.subarray(toSkip);
        toSkip -= chunk.length - fresh.length;
        if (fresh.length > 0) this.#reader.write(fresh);
        done();
      },
    });
    try {
      this.#log = await api.followLog(this.name, CONTAINER, sink);
    } catch (cause) {
      if (this.isStopped) return;
      throw environmentError(`the log of ${this.role} cannot be read: ${apiFailure(cause, api)}`, {
        cause,
      });
    }
    this.#log.ended.then(async () => {
      await sleep(200);
      if (this.isStopped || this.#hasEnded) return;
      await this.#followLog().catch(() => {});
    });
  }

  #onMessage(message: SupervisorMessage): void {
    for (const listener of this.#messageListeners) listener(message);
    if (message.is === "output" && message.text) this.printed.stdout.write(message.text);
    if (message.is === "output" && !message.text) this.#fetched = this.#fetchOutput(message.sha256);
    if (message.is !== "end" || this.#isEnding) return;
    this.#isEnding = true;
    const { code, forMemory } = message;
    const exit = forMemory
      ? { code: null, signal: "out of memory: its cap is too small" }
      : { code, signal: null };
    this.#fetched.then(
      () => this.#end(exit),
      (error) => this.#end({ code: null, signal: `the loss of its output: ${messageOf(error)}` }),
    );
  }

  /** Settles when an output that is too long for the log was read. */
  #fetched: Promise<void> = Promise.resolve();

  async #fetchOutput(sha256: string): Promise<void> {
    const command = ["cat", `${SUPERVISOR_FOLDER}/output`];
    const process = await this.#context.api.exec(this.name, CONTAINER, command);
    process.stderr.resume();
    const text = await buffer(process.stdout);
    if (hash("sha256", text) !== sha256)
      throw new Error(`${text.length} bytes arrived that are not those that ${this.role} wrote`);
    this.printed.stdout.write(text);
  }

  async #end(exit: Exit): Promise<void> {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.printed.end();
    await this.printed.ended;
    this.ended(exit);
  }

  #next(is: SupervisorMessage["is"]): Promise<void> {
    const told = deferred();
    const listener = (message: SupervisorMessage) => message.is === is && told.resolve();
    this.#messageListeners.add(listener);
    const late = () => `the supervisor of ${this.role} does not answer`;
    return within(told.promise, DONE_WITHIN_MS, late).finally(() =>
      this.#messageListeners.delete(listener),
    );
  }

  output(): Promise<string> {
    return this.printed.completeStdout();
  }

  async trouble(): Promise<string | undefined> {
    if (this.#isEnding || this.isStopped) return undefined;
    return this.#session.run("true").then(() => undefined, messageOf);
  }

  shell(line: string): Promise<string> {
    return this.#session.run(line);
  }

  async counters(): Promise<PartCounters> {
    return countersIn(await this.#session.run(READ_COUNTERS), this.#context.ownNetwork);
  }

  async runDelays(): Promise<RunDelays | undefined> {
    return runDelaysIn(await this.#session.run(READ_RUN_DELAYS));
  }

  async kill(): Promise<void> {
    const down = this.#next("down");
    this.isDown = true;
    await this.#session.run(
      `: >${SUPERVISOR_FOLDER}/hold; kill -9 $(cat ${SUPERVISOR_FOLDER}/pid)`,
    );
    await down;
  }

  protected async startAgain(onBegun: () => Promise<void>): Promise<void> {
    await onBegun();
    const started = this.#next("started");
    await this.#session.run(
      `rm ${SUPERVISOR_FOLDER}/hold; echo start >${SUPERVISOR_FOLDER}/control`,
    );
    await started;
    this.isDown = false;
    await this.#untilReady();
  }

  async pause(): Promise<void> {
    await this.#session.run(`kill -STOP $(cat ${SUPERVISOR_FOLDER}/pid)`);
  }

  async resume(): Promise<void> {
    await this.#session.run(`kill -CONT $(cat ${SUPERVISOR_FOLDER}/pid)`);
  }

  /**
   * The pod is gone seconds later: closing the runtime waits for all, so that this does not add up.
   */
  async stop(): Promise<void> {
    this.isStopped = true;
    this.#forget();
    if (this.#log && !this.#hasEnded) {
      const told = this.#session.run("kill -TERM 1").catch(() => {});
      await Promise.race([told, sleep(END_WITHIN_MS, undefined, { ref: false })]);
    }
    this.#session.close();
    this.#log?.close();
    const { api } = this.#context;
    await api.deletePod(this.name, { graceS: GRACE_S }).catch((error) => {
      throw new Error(`the pod ${this.name}: ${apiFailure(error, api)}`, { cause: error });
    });
    await this.#end({ code: null, signal: "its removal" });
  }
}

const stateOf = (pod: V1Pod | undefined): V1ContainerState | undefined =>
  pod?.status?.containerStatuses?.[0]?.state;

/** Ended by the system, not by its program, or never begun. */
const isKilled = (state: V1ContainerState | undefined): boolean =>
  ["OOMKilled", "StartError", "ContainerCannotRun"].includes(state?.terminated?.reason ?? "");
