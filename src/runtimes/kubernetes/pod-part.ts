import { hash, randomBytes } from "node:crypto";
import { Writable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import type { V1ContainerState, V1Pod } from "@kubernetes/client-node";
import { within } from "../../kit/deadline.js";
import type { NodePlace } from "../../kit/env.js";
import { environmentError, messageOf } from "../../kit/errors.js";
import { shellQuoted } from "../../kit/shell-words.js";
import { deferred } from "../deferred.js";
import { lineWriter, SplitOutput } from "../part-output.js";
import { RestartablePart } from "../restartable-part.js";
import type { RunDelays } from "../run-delay.js";
import type { Caps, Exit, Part, PartCounters, RunningPart } from "../runtime-types.js";
import { apiFailure, podFailure } from "./failures.js";
import type { KubernetesApi } from "./kubernetes-api.js";
import { CONTAINER, GRACE_S } from "./pod.js";
import type { Following } from "./pod-connections.js";
import { countersIn, READ_COUNTERS, READ_RUN_DELAYS, runDelaysIn } from "./pod-counters.js";
import { PodSession } from "./pod-session.js";
import type { PodWatch } from "./pod-watch.js";
import { SUPERVISOR_FOLDER } from "./supervisor.js";
import { LogReader, type SupervisorMessage } from "./supervisor-log.js";

/** The time that a pod may wait for a place, which a cluster may be about to free. */
const PLACE_WITHIN_MS = 30_000;

/** The time for everything else until a pod runs, e.g. the pull of an image. */
const RUN_WITHIN_MS = 300_000;

/** The time after the end of a pod in which its log may still be on its way. */
const LOG_WITHIN_MS = 4_000;

/**
 * The time for the supervisor to end its program, which takes milliseconds. A pod that does not
 * answer is deleted all the same.
 */
const END_WITHIN_MS = 2_000;

/** The time from a command to the supervisor until it reports that it is done. */
const DONE_WITHIN_MS = 10_000;

/** The time after which the events of a pod that does not run yet are read. */
const EVENTS_AFTER_MS = 5_000;
const LOOK_AGAIN_AFTER_MS = 2_000;
const FOLLOW_AGAIN_AFTER_MS = 200;

type PodContext = { api: KubernetesApi; watch: PodWatch; ownNetwork: boolean };

/** A part that is the program of its own pod, under the supervisor. */
export class PodPart extends RestartablePart implements RunningPart {
  readonly name: string;
  readonly onThisMachine = false;
  readonly write?: (line: string) => void;
  readonly mark = randomBytes(9).toString("hex");
  caps: Caps = {};
  pod: V1Pod | undefined;
  /** The output of the program, which the log reader takes apart. */
  readonly printed = new SplitOutput();
  readonly #context: PodContext;
  readonly #ports: Omit<NodePlace, "host">;
  readonly #session: PodSession;
  readonly #reader: LogReader;
  readonly #messageListeners = new Set<(message: SupervisorMessage) => void>();
  #log: Following | undefined;
  #stopWatching: () => void = () => {};
  #hasEnded = false;
  /** Whether the log or the cluster has said that the program ended. */
  #isEnding = false;
  #untilReady: () => Promise<void> = async () => {};
  /** Settles when an output that is too long for the log was read. */
  #outputFetch: Promise<void> = Promise.resolve();

  constructor(part: Part, name: string, ports: Omit<NodePlace, "host">, context: PodContext) {
    super(part.role);
    this.name = name;
    this.#ports = ports;
    this.#context = context;
    this.#session = new PodSession(context.api, name, () => this.machine);
    this.#reader = new LogReader(
      this.mark,
      (chunk) => this.printed.stderr.write(chunk),
      (message) => this.#onMessage(message),
    );
    if (part.takesInput) this.write = lineWriter(this.#input());
  }

  /** The program's standard input. */
  #input(): Writable {
    return new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        const line = shellQuoted(chunk.toString("utf8"));
        const sent = this.#session.run(`printf %s ${line} >${SUPERVISOR_FOLDER}/input`);
        // The program may have ended, which is noticed elsewhere.
        sent.catch(() => {}).finally(done);
      },
    });
  }

  get address(): NodePlace {
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
   * Waits until the pod runs and is ready, and follows its log.
   * @throws environmentError with the fix
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
    // The program may have ended meanwhile, which the log says.
    await Promise.race([this.exited, sleep(LOG_WITHIN_MS)]);
    if (this.#hasEnded) return;
    throw environmentError(
      `${this.role} cannot be reached in its pod: ${apiFailure(error, this.#context.api)}`,
      { cause: error },
    );
  }

  async #untilRunning(): Promise<void> {
    const began = performance.now();
    let onChange: () => void = () => {};
    let isGone = false;
    const forget = this.#context.watch.onChange(this.name, (pod) => {
      if (pod) this.pod = pod;
      else isGone = true;
      onChange();
    });
    try {
      for (;;) {
        this.refuseIfStopped();
        const changed = deferred();
        onChange = changed.resolve;
        if (this.#hasBegun()) return;
        await this.#refuseFailedStart(performance.now() - began, isGone);
        await Promise.race([changed.promise, sleep(LOOK_AGAIN_AFTER_MS)]);
      }
    } finally {
      forget();
    }
  }

  /** Whether the program runs at a known address, or has already ended by itself. */
  #hasBegun(): boolean {
    const state = stateOf(this.pod);
    if (state?.running && this.pod?.status?.podIP) return true;
    return state?.terminated !== undefined && !isKilled(state);
  }

  /** @throws environmentError where the pod cannot run any more, or takes too long */
  async #refuseFailedStart(waited_ms: number, isGone: boolean): Promise<void> {
    // Events cost a request, so they are read only where a pod takes its time.
    const events = waited_ms > EVENTS_AFTER_MS ? await this.#context.api.events(this.name) : [];
    const isKnown = this.pod !== undefined || isGone;
    const failure = isKnown ? podFailure(isGone ? undefined : this.pod, events) : undefined;
    const isLate = waited_ms > (this.machine ? RUN_WITHIN_MS : PLACE_WITHIN_MS);
    if (!failure?.isFinal && !isLate) return;

    const reason = failure?.text ?? `its pod did not run within ${Math.round(waited_ms / 1000)} s`;
    throw environmentError(`${this.role} cannot be started: ${reason}`);
  }

  /** Notices an end that is not in the log, which is that of the container, the pod or its node. */
  #followPod(): void {
    this.#stopWatching = this.#context.watch.onChange(this.name, (pod) => {
      if (pod) this.pod = pod;
      if (this.isStopped || this.#isEnding) return;
      const failure = podFailure(pod);
      const state = stateOf(pod);
      if (state?.terminated && !isKilled(state)) {
        void this.#endWithoutLog({ code: state.terminated.exitCode, signal: null });
      } else if (state?.terminated || failure?.isFinal) {
        const signal = `a failure of its pod: ${failure?.text}`;
        void this.#endWithoutLog({ code: null, signal });
      }
    });
  }

  /** Ends the part, unless the log still shows how the program ended, which the cluster may not know. */
  async #endWithoutLog(exit: Exit): Promise<void> {
    await sleep(LOG_WITHIN_MS);
    if (this.#isEnding || this.isStopped) return;
    this.#isEnding = true;
    await this.#end(exit);
  }

  /** Follows the log to its end, and again where the connection was lost. */
  async #followLog(): Promise<void> {
    const { api } = this.#context;
    try {
      this.#log = await api.followLog(this.name, CONTAINER, this.#unreadLog());
    } catch (cause) {
      if (this.isStopped) return;
      throw environmentError(`the log of ${this.role} cannot be read: ${apiFailure(cause, api)}`, {
        cause,
      });
    }

    this.#log.ended.then(async () => {
      await sleep(FOLLOW_AGAIN_AFTER_MS);
      if (this.isStopped || this.#hasEnded) return;
      await this.#followLog().catch(() => {});
    });
  }

  /** A stream that takes the log from its beginning, and reads what was not read before. */
  #unreadLog(): Writable {
    let toSkip = this.#reader.bytes;
    return new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        const unread = chunk.subarray(toSkip);
        toSkip -= chunk.length - unread.length;
        if (unread.length > 0) this.#reader.write(unread);
        done();
      },
    });
  }

  #onMessage(message: SupervisorMessage): void {
    for (const listener of this.#messageListeners) listener(message);
    if (message.is === "output") this.#takeOutput(message.sha256, message.text);
    if (message.is === "end") this.#endByMessage(message.code, message.forMemory);
  }

  /** @param text the output; undefined where it is too long for the log, or did not arrive whole */
  #takeOutput(sha256: string, text: Buffer | undefined): void {
    if (text) this.printed.stdout.write(text);
    else this.#outputFetch = this.#fetchOutput(sha256);
  }

  #endByMessage(code: number, forMemory: boolean): void {
    if (this.#isEnding) return;
    this.#isEnding = true;
    const exit: Exit = forMemory
      ? { code: null, signal: "out of memory: its cap is too small" }
      : { code, signal: null };
    this.#outputFetch.then(
      () => this.#end(exit),
      (error) => this.#end({ code: null, signal: `the loss of its output: ${messageOf(error)}` }),
    );
  }

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

  /** Waits for the next such message of the supervisor. @throws Error where none comes in time */
  #nextMessage(is: SupervisorMessage["is"]): Promise<void> {
    const arrival = deferred();
    const listener = (message: SupervisorMessage) => message.is === is && arrival.resolve();
    this.#messageListeners.add(listener);
    const lateText = () => `the supervisor of ${this.role} does not answer`;
    return within(arrival.promise, DONE_WITHIN_MS, lateText).finally(() =>
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
    const down = this.#nextMessage("down");
    this.isDown = true;
    await this.#session.run(
      `: >${SUPERVISOR_FOLDER}/hold; kill -9 $(cat ${SUPERVISOR_FOLDER}/pid)`,
    );
    await down;
  }

  protected async startAgain(onBegun: () => Promise<void>): Promise<void> {
    await onBegun();
    const started = this.#nextMessage("started");
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
   * Deletes the pod, which is gone seconds later. Closing the runtime waits for all pods, so that this
   * time does not add up.
   */
  async stop(): Promise<void> {
    this.isStopped = true;
    this.#stopWatching();
    if (this.#log && !this.#hasEnded) {
      const request = this.#session.run("kill -TERM 1").catch(() => {});
      await Promise.race([request, sleep(END_WITHIN_MS, undefined, { ref: false })]);
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

/** Whether the system ended the container, or it never began. */
const isKilled = (state: V1ContainerState | undefined): boolean =>
  ["OOMKilled", "StartError", "ContainerCannotRun"].includes(state?.terminated?.reason ?? "");
