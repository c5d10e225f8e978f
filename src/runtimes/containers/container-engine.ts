import { Agent } from "node:http";
import { Agent as SecureAgent } from "node:https";
import type Docker from "dockerode";
import { within } from "../../kit/deadline.js";
import { definedOnly } from "../../kit/defined-only.js";
import { messageOf } from "../../kit/errors.js";
import type { EngineProperties, ImageIdentity } from "../runtime-types.js";

const FIRST_ANSWER_WITHIN_MS = 5_000;

/** The times that an engine may take, in ms. */
const LIMITS_MS = {
  /** The time for requests that only read. */
  read: 10_000,
  /** The time for requests that change something, e.g. create a container on a slow disk. */
  change: 60_000,
  /** The time between questions whether the engine still answers. */
  watch: 2_000,
  /** The time without an answer after which the engine counts as lost. */
  lost: 8_000,
};

/** Matches requests without a time limit, which wait for something else or transfer much. */
const TAKES_LONG = /\/wait\?|\/images\/(create|load|get)\b|\/images\/[^?]+\/get\b/;

const LOOPBACK = /^(127\.|localhost$|\[?::1\]?$)/i;

/** The options of the global agent of Node.js. */
const KEPT_ALIVE = { keepAlive: true, timeout: 5_000 };

/** Whether an engine answered with this status. */
export const hasEngineStatus = (error: unknown, status: number): boolean =>
  (error as { statusCode?: number }).statusCode === status;

/** Says that the engine did not answer in time, or at all. The cause is the system's own error. */
export class NoAnswer extends Error {
  constructor(engine: string, error: Error) {
    super(`${engine} does not answer: ${error.message}`, { cause: error });
    this.name = "NoAnswer";
  }
}

type Request = { path: string; method: string; abortSignal?: AbortSignal };
type Answered = (error: Error | null, value?: unknown) => void;
type Dial = (request: Request, answered: Answered) => void;

/**
 * A connection to an engine, on which each request has a time limit. An engine that is watched and
 * stops answering is lost. Then open requests fail, and further ones fail at once until it answers
 * again.
 */
export class EngineConnection {
  readonly docker: Docker;
  readonly name: string;
  readonly #dial: Dial;
  readonly #limits_ms: typeof LIMITS_MS;
  readonly #open = new Set<AbortController>();
  readonly #listeners = new Set<(reason: string) => void>();
  #timer: NodeJS.Timeout | undefined;
  #isPinging = false;
  #lost: Error | undefined;

  constructor(docker: Docker, name: string, limits_ms = LIMITS_MS) {
    this.#limits_ms = limits_ms;
    this.docker = docker;
    this.name = name;
    const modem = docker.modem as { dial: Dial };
    this.#dial = modem.dial.bind(modem);
    modem.dial = (request, answered) => this.#request(request, answered);
  }

  watch(): void {
    this.#timer ??= setInterval(() => void this.#ping(), this.#limits_ms.watch).unref();
  }

  onLost(listener: (reason: string) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #request(request: Request, answered: Answered): void {
    if (this.#lost) {
      answered(this.#lost);
      return;
    }
    const { read, change } = this.#limits_ms;
    const within_ms = request.method === "GET" || request.method === "HEAD" ? read : change;
    this.#limited(request, TAKES_LONG.test(request.path) ? undefined : within_ms, answered);
  }

  #limited(request: Request, within_ms: number | undefined, answered: Answered): void {
    const controller = new AbortController();
    const { abortSignal } = request;
    const abort = () => controller.abort(new Error(`nothing within ${(within_ms ?? 0) / 1000} s`));
    const timer = within_ms === undefined ? undefined : setTimeout(abort, within_ms);
    this.#open.add(controller);
    const signal = abortSignal
      ? AbortSignal.any([abortSignal, controller.signal])
      : controller.signal;
    this.#dial({ ...request, abortSignal: signal }, (error, value) => {
      clearTimeout(timer);
      this.#open.delete(controller);
      if (!error || "statusCode" in error) {
        answered(error, value);
        return;
      }
      // The library only says that it was aborted.
      const { aborted, reason } = controller.signal;
      answered(new NoAnswer(this.name, aborted ? reason : error));
    });
  }

  async #ping(): Promise<void> {
    if (this.#isPinging) return;
    this.#isPinging = true;
    // The library's types leave out the codes of success.
    const ping = { path: "/_ping", method: "GET", statusCodes: { 200: true } };
    const error = await new Promise<Error | null>((resolve) => {
      this.#limited(ping, this.#limits_ms.lost, resolve);
    });
    this.#isPinging = false;
    // A closed connection has no use for an answer.
    if (this.#timer) this.#setLost(error ?? undefined);
  }

  #setLost(error: Error | undefined): void {
    const isNew = error !== undefined && this.#lost === undefined;
    this.#lost = error;
    if (!isNew) return;
    for (const controller of this.#open) controller.abort(error.cause ?? error);
    for (const listener of [...this.#listeners]) listener(error.message);
  }
}

/** A connection to the engine at an endpoint, whose name appears in messages. */
export async function engineAt(
  endpoint: Docker.DockerOptions,
  name: string,
): Promise<EngineConnection> {
  // The library has two hundred files, so it is loaded only when an engine is used.
  const { default: Engine } = await import("dockerode");
  const docker = new Engine(endpoint);
  const modem = docker.modem as { host?: string; protocol?: string; agent?: Agent };
  // With NODE_USE_ENV_PROXY the global agent would send requests to an engine on loopback to the
  // proxy.
  if (LOOPBACK.test(modem.host ?? ""))
    modem.agent = new (modem.protocol === "https" ? SecureAgent : Agent)(KEPT_ALIVE);
  return new EngineConnection(docker, name);
}

/** Says whether an engine answers, or why it cannot be used. */
export async function checkEngine(
  docker: Docker,
  name: string,
): Promise<{ what: string } | { unavailableReason: string }> {
  try {
    const { Version } = await within(docker.version(), FIRST_ANSWER_WITHIN_MS, () => "it hangs");
    return { what: `${name} ${Version} answers` };
  } catch (error) {
    return { unavailableReason: unavailableReason(error, name) };
  }
}

function unavailableReason(error: unknown, name: string): string {
  const cause = error instanceof NoAnswer ? error.cause : error;
  const { code } = cause as NodeJS.ErrnoException;
  if (code === "EACCES")
    return `no permission to use ${name}: add yourself to its group (sudo usermod -aG docker $USER, then log in again)`;
  if (code === "ENOENT") return `${name} is not installed or not running`;
  if (code === "ECONNREFUSED") return `${name} is not running`;
  return `${name} does not answer: ${messageOf(cause)}`;
}

export async function describeEngine(docker: Docker, name: string): Promise<EngineProperties> {
  const [version, info] = await Promise.all([docker.version(), docker.info()]);
  return {
    name,
    version: version.Version,
    api_version: version.ApiVersion,
    operating_system: info.OperatingSystem,
    kernel: info.KernelVersion,
    cpus: info.NCPU,
    memory_bytes: info.MemTotal,
    cgroup_version: String(info.CgroupVersion ?? "unknown"),
  };
}

/** The identity of an image; undefined where the engine does not have it. */
export async function findImage(
  docker: Docker,
  name: string,
  preferred?: string | null,
): Promise<ImageIdentity | undefined> {
  try {
    const { Id, RepoDigests } = await docker.getImage(name).inspect();
    const digests = (RepoDigests ?? []).flatMap((reference) => reference.split("@")[1] ?? []);
    const digest = digests.find((candidate) => candidate === preferred) ?? digests[0];
    return definedOnly({ name, id: Id, digest });
  } catch (error) {
    if (hasEngineStatus(error, 404)) return undefined;
    throw error;
  }
}
