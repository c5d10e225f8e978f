import type Docker from "dockerode";
import type { Node } from "../../contract/env.js";
import { EarlierCounters } from "../earlier-counters.js";
import { lineWriter } from "../line-client.js";
import type { RunDelays } from "../run-delay.js";
import type { Caps, Exit, Part, PartCounters, RunningPart } from "../types.js";
import { type ControlGroup, controlGroupOf } from "./control-group.js";
import { countersOf } from "./counters.js";
import { hasStatus } from "./engine.js";
import { EngineOutput } from "./engine-output.js";
import { appliedCaps, endpointOf } from "./specification.js";

/** A part's place in its network. */
export interface NetworkPlace {
  network: Docker.Network;
  /** Kept when it is started or connected again; absent: the engine gives it another one. */
  address?: string;
  /** Gives the address back when the part is gone. */
  release(): void;
}

/** One container. */
export class ContainerPart implements RunningPart {
  readonly role: string;
  readonly address: Node;
  readonly exited: Promise<Exit>;
  readonly write?: (line: string) => void;
  readonly container: Docker.Container;
  caps: Caps = {};
  engineOutput: EngineOutput | undefined;
  readonly #listeners: ((line: string) => void)[] = [];
  readonly #takesInput: boolean;
  #writeLine: (line: string) => void = () => {};
  /** Undefined where this machine cannot read the control group. */
  #group: ControlGroup | undefined;
  #ended: (exit: Exit) => void = () => {};
  readonly #place: NetworkPlace;
  readonly #earlier = new EarlierCounters();
  /** Starts it and waits until it is ready. */
  #start: () => Promise<void> = async () => {};
  #isDown = false;
  #isPaused = false;
  #isStopped = false;

  constructor(part: Part, address: Node, container: Docker.Container, place: NetworkPlace) {
    this.role = part.role;
    this.address = address;
    this.container = container;
    this.#place = place;
    this.#takesInput = part.takesInput === true;
    if (this.#takesInput) this.write = (line) => this.#writeLine(line);
    this.exited = new Promise((resolve) => {
      this.#ended = resolve;
    });
  }

  get isDown(): boolean {
    return this.#isDown;
  }

  /**
   * Starts the container for the first time.
   * @param untilReady waits until the part answers
   */
  async run(docker: Docker, untilReady: () => Promise<void>): Promise<void> {
    this.#start = async () => {
      await this.#begin(docker);
      await untilReady();
    };
    await this.#start();
  }

  /** Attaches to the streams, then starts the container, so that no output is lost. */
  async #begin(docker: Docker): Promise<void> {
    const streams = { stream: true, stdout: true, stderr: true };
    // Only a hijacked connection carries input.
    const input = this.#takesInput ? { stdin: true, hijack: true } : {};
    const stream = await this.container.attach({ ...streams, ...input });
    this.engineOutput = new EngineOutput(docker, stream);
    if (this.#takesInput) this.#writeLine = lineWriter(stream);
    for (const listener of this.#listeners) this.engineOutput.onLine(listener);
    await this.container.start();
    this.#isDown = false;
    this.#waitForExit().then((exit) => {
      if (!this.#isDown) this.#ended(exit);
    });
    const { HostConfig, State } = await this.container.inspect();
    this.caps = appliedCaps(HostConfig);
    this.#group = await controlGroupOf(this.container.id, State.Pid);
  }

  async #waitForExit(): Promise<Exit> {
    try {
      const { StatusCode } = (await this.container.wait()) as { StatusCode: number };
      await this.engineOutput?.completeStdout();
      const { State } = await this.container.inspect();
      return State.OOMKilled
        ? { code: null, signal: "out of memory: its cap is too small" }
        : { code: StatusCode, signal: null };
    } catch (error) {
      return {
        code: null,
        signal: hasStatus(error, 404) ? "its removal" : `the loss of its engine (${error})`,
      };
    }
  }

  onLine(listener: (line: string) => void): void {
    this.#listeners.push(listener);
    this.engineOutput?.onLine(listener);
  }

  async output(): Promise<string> {
    return (await this.engineOutput?.completeStdout()) ?? "";
  }

  lastLines(): readonly string[] {
    return this.engineOutput?.lastLines() ?? [];
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
    this.#isDown = true;
    const ended = this.container.wait();
    await this.container.kill({ signal: "SIGKILL" });
    await ended;
  }

  async restart(onBegun: () => Promise<void>): Promise<void> {
    // The container exists all the time, so whoever stops the part ends the new process, too.
    this.#refuseIfStopped();
    try {
      await onBegun();
      await this.#start();
      this.#refuseIfStopped();
    } catch (error) {
      await this.stop();
      throw error;
    }
  }

  #refuseIfStopped(): void {
    if (this.#isStopped) throw new Error(`${this.role} was stopped`);
  }

  async pause(): Promise<void> {
    this.#isPaused = true;
    await this.container.pause();
  }

  async resume(): Promise<void> {
    await this.container.unpause();
    this.#isPaused = false;
  }

  async disconnect(): Promise<void> {
    const counters = await this.#ownCounters().catch(() => undefined);
    await this.#place.network.disconnect({ Container: this.container.id, Force: true });
    // Its next link counts from 0.
    if (counters) this.#earlier.keep(counters, "network");
  }

  async reconnect(): Promise<void> {
    await this.#place.network.connect({
      Container: this.container.id,
      EndpointConfig: endpointOf(this.role, this.#place.address),
    });
  }

  /** Kills the container at once and removes it with its volumes. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    // Some engines cannot kill what is paused.
    if (this.#isPaused) await this.resume().catch(() => {});
    await removeContainer(this.container);
    this.#ended({ code: null, signal: "its removal" });
    this.#place.release();
  }
}

/** @returns whether it was there */
export async function removeContainer(container: Docker.Container): Promise<boolean> {
  try {
    await container.remove({ force: true, v: true });
    return true;
  } catch (error) {
    if (hasStatus(error, 404)) return false;
    // Something else is removing it already.
    if (!hasStatus(error, 409)) throw error;
    await container.wait({ condition: "removed" }).catch(() => {});
    return true;
  }
}
