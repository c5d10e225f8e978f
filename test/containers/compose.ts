import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { expect } from "vitest";
import { docker, tryDocker } from "../helpers/engine.js";
import { ROOT } from "../helpers/programs.js";

const lines = (text: string): string[] => text.split("\n").filter((line) => line !== "");

/** Builds the project's images. @throws Error without an engine */
export function prepare(): void {
  docker("version");
  new Project("docker-compose.yml").tell("--profile", "bench", "build", "--quiet");
}

/** What `docker inspect` tells of a container, as far as the tests look. */
export interface Inspected {
  Config: { User: string; Labels: Record<string, string> };
  HostConfig: {
    CapDrop: string[] | null;
    SecurityOpt: string[] | null;
    ReadonlyRootfs: boolean;
    NanoCpus: number;
    CpusetCpus: string;
    Memory: number;
    MemorySwap: number;
    PidsLimit: number | null;
    Privileged: boolean;
    NetworkMode: string;
    RestartPolicy: { Name: string };
    Ulimits: { Name: string; Soft: number; Hard: number }[] | null;
    Tmpfs: Record<string, string> | null;
    PortBindings: Record<string, { HostIp: string }[]> | null;
  };
  Mounts: { Type: string; Source: string; Destination: string; RW: boolean }[];
  NetworkSettings: { Networks: Record<string, unknown>; Ports: Record<string, unknown> };
}

/**
 * A compose file under a name of its own, so that others may use the same file at the same time.
 */
export class Project {
  readonly name: string;
  readonly #file: string;
  readonly #env: Readonly<Record<string, string>>;

  constructor(
    file: string,
    env: Readonly<Record<string, string>> = {},
    name = `rlb-test-${randomBytes(4).toString("hex")}`,
  ) {
    this.name = name;
    this.#file = file;
    // The test runner has a MODE of its own, which is no client.
    this.#env = { MODE: "", ...env };
  }

  /** The same project, whose services are given other settings from now on. */
  withEnvironment(env: Readonly<Record<string, string>>): Project {
    return new Project(this.#file, env, this.name);
  }

  compose(...parameters: readonly string[]): {
    code: number | null;
    stdout: string;
    stderr: string;
  } {
    const { status, stdout, stderr } = spawnSync(
      "docker",
      ["compose", "-p", this.name, "-f", this.#file, ...parameters],
      { cwd: ROOT, env: { ...process.env, ...this.#env }, encoding: "utf8" },
    );
    return { code: status, stdout: stdout.trim(), stderr };
  }

  /** Standard output of a command that must end well. */
  tell(...parameters: readonly string[]): string {
    const { code, stdout, stderr } = this.compose(...parameters);
    if (code !== 0)
      throw new Error(`compose ${parameters.join(" ")} ended with ${code}: ${stderr}`);
    return stdout;
  }

  /** What a command in a service's container prints; it must end well. */
  inside(service: string, ...command: readonly string[]): string {
    return this.tell("exec", "-T", service, ...command);
  }

  inspect(): Map<string, Inspected> {
    const all = JSON.parse(docker("inspect", ...lines(this.tell("ps", "-aq")))) as Inspected[];
    return new Map(
      all.map((each) => [each.Config.Labels["com.docker.compose.service"] ?? "", each]),
    );
  }

  /** Takes everything down, of which nothing may be left. */
  goesWithoutTrace(): void {
    expect(this.#down()).toEqual([]);
  }

  /**
   * Takes everything down, and says what is left. Docker can count an endpoint that is gone, until
   * it is started anew (moby/moby#42119): it refuses to remove such a network, though no container
   * is in it. That one is not listed.
   */
  #down(): string[] {
    const profiles = ["--profile", "bench", "--profile", "memcached"];
    const { code, stderr } = this.compose(...profiles, "down", "--volumes", "--remove-orphans");
    const left = [
      ["ps", "-a"],
      ["network", "ls"],
      ["volume", "ls"],
    ].flatMap((kind) =>
      lines(docker(...kind, "-q", "--filter", `label=com.docker.compose.project=${this.name}`)),
    );
    if (code === 0) return left;
    if (!stderr.includes("has active endpoints"))
      throw new Error(`compose down ended with ${code}: ${stderr}`);
    const inside = "{{if eq (len .Containers) 0}}none{{end}}";
    return left.filter(
      (id) => tryDocker("network", "inspect", "--format", inside, id).output.trim() !== "none",
    );
  }
}
