import type Docker from "dockerode";
import type { RunDelays } from "../run-delay.js";
import type { Caps, Exit, Part, PartCounters, RunningPart } from "../types.js";
import { type ControlGroup, controlGroupOf } from "./control-group.js";
import { countersOf } from "./counters.js";
import { is } from "./engine.js";
import { appliedCaps } from "./specification.js";
import { Outputs } from "./streams.js";

/** One container. */
export class ContainerPart implements RunningPart {
  readonly role: string;
  readonly address: { host: string; port: number };
  readonly exited: Promise<Exit>;
  readonly container: Docker.Container;
  caps: Caps = {};
  outputs: Outputs | undefined;
  readonly #listeners: ((line: string) => void)[] = [];
  /** Undefined where this machine does not see it. */
  #group: ControlGroup | undefined;
  #ended: (exit: Exit) => void = () => {};

  constructor(part: Part, address: { host: string; port: number }, container: Docker.Container) {
    this.role = part.role;
    this.address = address;
    this.container = container;
    this.exited = new Promise((resolve) => {
      this.#ended = resolve;
    });
  }

  /** Runs it, and reads what it prints from the first word on. */
  async run(docker: Docker): Promise<void> {
    const stream = await this.container.attach({ stream: true, stdout: true, stderr: true });
    this.outputs = new Outputs(docker, stream);
    for (const listener of this.#listeners) this.outputs.onLine(listener);
    await this.container.start();
    this.#follow().then(this.#ended);
    const { HostConfig, State } = await this.container.inspect();
    this.caps = appliedCaps(HostConfig);
    this.#group = await controlGroupOf(this.container.id, State.Pid);
  }

  async #follow(): Promise<Exit> {
    try {
      const { StatusCode } = (await this.container.wait()) as { StatusCode: number };
      await this.outputs?.stdout();
      const { State } = await this.container.inspect();
      return State.OOMKilled
        ? { code: null, signal: "out of memory: its cap is too small" }
        : { code: StatusCode, signal: null };
    } catch (error) {
      return { code: null, signal: is(error, 404) ? "its removal" : `the loss of its engine (${error})` };
    }
  }

  onLine(listener: (line: string) => void): void {
    this.#listeners.push(listener);
    this.outputs?.onLine(listener);
  }

  async output(): Promise<string> {
    return (await this.outputs?.stdout()) ?? "";
  }

  lastLines(): readonly string[] {
    return this.outputs?.lastLines() ?? [];
  }

  get onThisMachine(): boolean {
    return this.#group !== undefined;
  }

  async runDelays(): Promise<RunDelays | undefined> {
    return this.#group?.runDelays();
  }

  async counters(): Promise<PartCounters> {
    if (this.#group) return this.#group.counters();
    // Without `one-shot` the engine would wait a second for a second reading.
    return countersOf(await this.container.stats({ stream: false, "one-shot": true }));
  }

  /** Nothing that it could still write is wanted: it is ended at once, and its volumes go with it. */
  async stop(): Promise<void> {
    await removeContainer(this.container);
  }
}

/** @returns whether it was there */
export async function removeContainer(container: Docker.Container): Promise<boolean> {
  try {
    await container.remove({ force: true, v: true });
    return true;
  } catch (error) {
    if (is(error, 404)) return false;
    // Somebody is removing it already.
    if (!is(error, 409)) throw error;
    await container.wait({ condition: "removed" }).catch(() => {});
    return true;
  }
}
