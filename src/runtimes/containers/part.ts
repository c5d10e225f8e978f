import type Docker from "dockerode";
import type { Node } from "../../contract/env.js";
import { lineWriter } from "../line-client.js";
import type { RunDelays } from "../run-delay.js";
import type { Caps, Exit, Part, PartCounters, RunningPart } from "../types.js";
import { type ControlGroup, controlGroupOf } from "./control-group.js";
import { countersOf } from "./counters.js";
import { hasStatus } from "./engine.js";
import { EngineOutput } from "./engine-output.js";
import { appliedCaps } from "./specification.js";

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

  constructor(part: Part, address: Node, container: Docker.Container) {
    this.role = part.role;
    this.address = address;
    this.container = container;
    this.#takesInput = part.takesInput === true;
    if (this.#takesInput) this.write = (line) => this.#writeLine(line);
    this.exited = new Promise((resolve) => {
      this.#ended = resolve;
    });
  }

  /** Attaches to the streams, then starts the container, so that no output is lost. */
  async run(docker: Docker): Promise<void> {
    const streams = { stream: true, stdout: true, stderr: true };
    // Only a hijacked connection carries input.
    const input = this.#takesInput ? { stdin: true, hijack: true } : {};
    const stream = await this.container.attach({ ...streams, ...input });
    this.engineOutput = new EngineOutput(docker, stream);
    if (this.#takesInput) this.#writeLine = lineWriter(stream);
    for (const listener of this.#listeners) this.engineOutput.onLine(listener);
    await this.container.start();
    this.#waitForExit().then(this.#ended);
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
    if (this.#group) return this.#group.counters();
    // Without `one-shot` the engine takes a second reading after one second.
    return countersOf(await this.container.stats({ stream: false, "one-shot": true }));
  }

  /** Kills the container at once and removes it with its volumes. */
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
    if (hasStatus(error, 404)) return false;
    // Something else is removing it already.
    if (!hasStatus(error, 409)) throw error;
    await container.wait({ condition: "removed" }).catch(() => {});
    return true;
  }
}
