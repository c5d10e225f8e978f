import { setTimeout as sleep } from "node:timers/promises";
import type Docker from "dockerode";
import { definedOnly } from "../../kit/defined-only.js";
import type { NodePlace } from "../../kit/env.js";
import { messageOf } from "../../kit/errors.js";
import { EarlierCounters } from "../earlier-counters.js";
import { ExecutedPart } from "../exec-part.js";
import { LineClient, lineWriter, SplitOutput } from "../part-output.js";
import { RestartablePart } from "../restartable-part.js";
import type { RunDelays } from "../run-delay.js";
import type { Caps, Exit, Part, PartCounters, ReadyAnswer, RunningPart } from "../runtime-types.js";
import { type EngineConnection, hasEngineStatus, NoAnswer } from "./container-engine.js";
import { appliedCaps } from "./container-options.js";
import { type ControlGroup, controlGroupOf, countersOf } from "./control-group.js";
import type { NetworkPlace } from "./networks.js";

type Engine = Pick<PartEngine, "connection" | "machine">;

/** A process that the engine executes in a running container, which costs less than a new one. */
export class ExecPart extends ExecutedPart {
  readonly exited: Promise<Exit>;
  readonly #unfollow: () => void;

  private constructor(
    part: Part,
    { connection, machine }: Engine,
    exec: Docker.Exec,
    output: EngineOutput,
    client: LineClient | undefined,
  ) {
    super(part, machine, output, client);
    // Questions that are open when the engine is lost get no answer, instead of waiting on.
    this.#unfollow = connection.onLost(() => output.cut());
    this.exited = output
      .completeStdout()
      .then(() => exec.inspect())
      .finally(() => this.#unfollow())
      .then(
        ({ ExitCode }) => ({ code: ExitCode, signal: null }),
        (error) => ({ code: null, signal: `the loss of its container (${messageOf(error)})` }),
      );
  }

  static async run(
    engine: Engine,
    container: Docker.Container,
    part: Part,
    command: readonly string[],
    environment: Readonly<Record<string, string>>,
  ): Promise<ExecPart> {
    const isInteractive = part.interactive === true;
    const exec = await container.exec({
      Cmd: [...command],
      Env: Object.entries(environment).map(([key, value]) => `${key}=${value}`),
      AttachStdin: isInteractive,
      AttachStdout: true,
      AttachStderr: true,
    });
    // Only a hijacked connection carries input.
    const stream = await exec.start(isInteractive ? { hijack: true, stdin: true } : {});
    const output = new EngineOutput(engine.connection.docker, stream);
    const client = isInteractive ? new LineClient(stream, output.stdout) : undefined;
    return new ExecPart(part, engine, exec, output, client);
  }

  /**
   * Ends the input of the process. It ends by itself, with its input, or with its container, because
   * the engine's API cannot end a process in a container.
   */
  async stop(): Promise<void> {
    this.client?.end();
    this.#unfollow();
  }
}

class EngineOutput extends SplitOutput {
  readonly #stream: NodeJS.ReadableStream & { destroy?(): void };

  constructor(docker: Docker, stream: NodeJS.ReadableStream) {
    super();
    this.#stream = stream;
    docker.modem.demuxStream(stream, this.stdout, this.stderr);
    for (const event of ["end", "close", "error"]) stream.once(event, () => this.end());
  }

  /** Ends the output here, because the engine may never end it. */
  cut(): void {
    this.#stream.destroy?.();
    this.end();
  }
}

type Link = NonNullable<NetworkPlace["link"]>;

export interface PartEngine {
  /** Sends a GET request from a container in the network of the parts. */
  get(url: string, headers?: Readonly<Record<string, string>>): Promise<ReadyAnswer>;
  connection: EngineConnection;
  machine?: string | undefined;
  removeLater(container: Docker.Container): void;
}

const CHECK_END_EVERY_MS = 1_000;

/** A part that runs in a container of its own. */
export class ContainerPart extends RestartablePart implements RunningPart {
  readonly address: NodePlace;
  readonly write?: (line: string) => void;
  readonly get?: NonNullable<RunningPart["get"]>;
  readonly container: Docker.Container;
  readonly machine?: string;
  caps: Caps = {};
  printed: EngineOutput | undefined;
  readonly #listeners: ((line: string) => void)[] = [];
  readonly #takesInput: boolean;
  #writeLine: (line: string) => void = () => {};
  /** The control group; undefined where this machine cannot read it. */
  #group: ControlGroup | undefined;
  readonly #engine: PartEngine;
  readonly #place: NetworkPlace;
  readonly #earlier = new EarlierCounters();
  #start: () => Promise<void> = async () => {};
  #isPaused = false;
  /** Stops listening for the loss of the engine. */
  readonly #unfollow: () => void;
  readonly disconnect?: () => Promise<void>;
  readonly reconnect?: () => Promise<void>;

  constructor(part: Part, engine: PartEngine, container: Docker.Container, place: NetworkPlace) {
    super(part.role);
    const { host, port, ports } = place.address;
    this.address = definedOnly({ host, port, ports: part.ports ? ports : undefined });
    this.container = container;
    this.#engine = engine;
    this.#place = place;
    if (engine.machine !== undefined) this.machine = engine.machine;
    const { link, endpoint } = place;
    if (link) {
      this.disconnect = () => this.#disconnect(link);
      this.reconnect = () => link.connect({ Container: container.id, EndpointConfig: endpoint });
    }
    this.#unfollow = engine.connection.onLost((reason) => {
      this.ended({ code: null, signal: `the loss of its engine (${reason})` });
      this.printed?.cut();
    });
    this.#takesInput = part.takesInput === true;
    if (this.#takesInput) this.write = (line) => this.#writeLine(line);
    if (part.followsImage)
      this.get = (path, headers) => engine.get(`http://${host}:${port}${path}`, headers);
  }

  /** Starts the container for the first time. @param untilReady waits until the part answers */
  async run(untilReady: () => Promise<void>): Promise<void> {
    this.#start = async () => {
      await this.#begin();
      await untilReady();
    };
    await this.#start();
  }

  /** Attaches to the streams, then starts the container, so that no output is lost. */
  async #begin(): Promise<void> {
    const streams = { stream: true, stdout: true, stderr: true };
    // Only a hijacked connection carries input.
    const input = this.#takesInput ? { stdin: true, hijack: true } : {};
    const stream = await this.container.attach({ ...streams, ...input });
    this.printed = new EngineOutput(this.#engine.connection.docker, stream);
    if (this.#takesInput) this.#writeLine = lineWriter(stream);
    for (const listener of this.#listeners) this.printed.onLine(listener);

    await this.container.start();
    this.isDown = false;
    this.#waitForExit().then((exit) => {
      if (!this.isDown) this.ended(exit);
    });

    const { HostConfig, State } = await this.container.inspect();
    this.caps = appliedCaps(HostConfig);
    this.#group = await controlGroupOf(
      this.container.id,
      State.Pid,
      this.#place.endpoint !== undefined,
    );
  }

  async #waitForExit(): Promise<Exit> {
    let isAnnounced = false;
    const announcedEnd = this.container.wait().then((answer: { StatusCode: number }) => {
      isAnnounced = true;
      return answer;
    });
    try {
      const end = await Promise.race([announcedEnd, this.#unannouncedEnd(() => isAnnounced)]);
      if (!end) {
        const { name } = this.#engine.connection;
        return { code: null, signal: `the loss of its engine (${name} was started again)` };
      }

      await this.printed?.completeStdout();
      const { State } = await this.container.inspect();
      if (State.OOMKilled) return { code: null, signal: "out of memory: its cap is too small" };
      return { code: end.StatusCode, signal: null };
    } catch (error) {
      if (hasEngineStatus(error, 404)) return { code: null, signal: "its removal" };
      return { code: null, signal: `the loss of its engine (${messageOf(error)})` };
    }
  }

  /**
   * Resolves when the container does not run, and its end was not announced. An engine that was
   * started again no longer knows who waits for the end, but then the output has ended, too.
   */
  async #unannouncedEnd(isAnnounced: () => boolean): Promise<undefined> {
    await this.printed?.completeStdout();
    // An end that the engine announces is announced in the same moment.
    for (;;) {
      await sleep(CHECK_END_EVERY_MS);
      if (isAnnounced() || !(await this.container.inspect()).State.Running) return undefined;
    }
  }

  override onLine(listener: (line: string) => void): void {
    this.#listeners.push(listener);
    super.onLine(listener);
  }

  async output(): Promise<string> {
    return (await this.printed?.completeStdout()) ?? "";
  }

  get onThisMachine(): boolean {
    return this.#group !== undefined;
  }

  async runDelays(): Promise<RunDelays | undefined> {
    return this.#group?.runDelays();
  }

  async counters(): Promise<PartCounters> {
    return this.#earlier.plus(await this.#ownCounters());
  }

  async #ownCounters(): Promise<PartCounters> {
    if (this.#group) return this.#group.counters();
    // Without `one-shot` the engine takes a second reading after one second.
    return countersOf(await this.container.stats({ stream: false, "one-shot": true }));
  }

  async kill(): Promise<void> {
    this.#earlier.keep({ ...(await this.#ownCounters()), resident_bytes: 0 });
    this.isDown = true;
    const ended = this.container.wait();
    await this.container.kill({ signal: "SIGKILL" });
    await ended;
  }

  protected async startAgain(onBegun: () => Promise<void>): Promise<void> {
    await onBegun();
    await this.#start();
  }

  async pause(): Promise<void> {
    this.#isPaused = true;
    await this.container.pause();
  }

  async resume(): Promise<void> {
    await this.container.unpause();
    this.#isPaused = false;
  }

  async #disconnect(link: Link): Promise<void> {
    const counters = await this.#ownCounters().catch(() => undefined);
    await link.disconnect({ Container: this.container.id, Force: true });
    // The next link counts from 0.
    if (counters) this.#earlier.keep(counters, "network");
  }

  /** Kills and removes the container, if need be only when the engine answers again. */
  async stop(): Promise<void> {
    this.isStopped = true;
    // Some engines cannot kill a paused container.
    if (this.#isPaused) await this.resume().catch(() => {});
    await removeContainer(this.container).catch((error) => {
      if (!(error instanceof NoAnswer)) throw error;
      this.#engine.removeLater(this.container);
      this.printed?.cut();
    });
    this.#unfollow();
    this.ended({ code: null, signal: "its removal" });
    this.#place.release();
  }
}

export async function removeContainer(container: Docker.Container): Promise<void> {
  try {
    await container.remove({ force: true, v: true });
  } catch (error) {
    if (hasEngineStatus(error, 404)) return;
    // With this status, something else is removing the container already.
    if (!hasEngineStatus(error, 409)) throw error;
    await container.wait({ condition: "removed" }).catch(() => {});
  }
}
