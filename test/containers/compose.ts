import { randomBytes } from "node:crypto";
import { execa } from "execa";
import { ROOT } from "../helpers/programs.js";

interface Said {
  code: number | undefined;
  stdout: string;
  stderr: string;
}

/** Runs `docker …` in the project's folder, whatever its end. */
export async function docker(
  parameters: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Said> {
  const { exitCode, stdout, stderr } = await execa("docker", parameters, {
    cwd: ROOT,
    // The test runner has a MODE of its own, which is no client.
    env: { MODE: "", ...env },
    stdin: "ignore",
    reject: false,
  });
  return { code: exitCode, stdout, stderr };
}

/** Standard output of `docker …`, which must end well. */
export async function said(...parameters: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await docker(parameters);
  if (code !== 0) throw new Error(`docker ${parameters.join(" ")} ended with ${code}: ${stderr}`);
  return stdout;
}

const lines = (text: string): string[] => text.split("\n").filter((line) => line !== "");

/** Builds the project's images. Without an engine every test fails with this one line. */
export async function prepare(): Promise<void> {
  const { code } = await docker(["version"]);
  if (code !== 0) throw new Error("no container engine answers: start Docker, or set DOCKER_HOST");
  await said("compose", "--profile", "bench", "build", "--quiet");
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

/** A compose file under a name of its own, so that others may use the same file at the same time. */
export class Project {
  readonly name = `rlb-test-${randomBytes(4).toString("hex")}`;
  readonly #file: string;
  readonly #env: Readonly<Record<string, string>>;

  constructor(file: string, env: Readonly<Record<string, string>> = {}) {
    this.#file = file;
    this.#env = env;
  }

  compose(...parameters: readonly string[]): Promise<Said> {
    return docker(["compose", "-p", this.name, "-f", this.#file, ...parameters], this.#env);
  }

  /** Standard output of a command that must end well. */
  async tell(...parameters: readonly string[]): Promise<string> {
    const { code, stdout, stderr } = await this.compose(...parameters);
    if (code !== 0) throw new Error(`compose ${parameters.join(" ")} ended with ${code}: ${stderr}`);
    return stdout;
  }

  /** What a command in a service's container prints; it must end well. */
  inside(service: string, ...command: readonly string[]): Promise<string> {
    return this.tell("exec", "-T", service, ...command);
  }

  async inspect(): Promise<Map<string, Inspected>> {
    const ids = lines(await this.tell("ps", "-aq"));
    const all = JSON.parse(await said("inspect", ...ids)) as Inspected[];
    return new Map(all.map((each) => [each.Config.Labels["com.docker.compose.service"] ?? "", each]));
  }

  /**
   * Takes everything down, and says what is left. Docker can count an endpoint that is gone, until it is started anew
   * (moby/moby#42119): it refuses to remove such a network, though no container is in it. That one is not listed.
   */
  async down(): Promise<string[]> {
    const profiles = ["--profile", "bench", "--profile", "memcached"];
    const { code, stderr } = await this.compose(...profiles, "down", "--volumes", "--remove-orphans");
    if (code === 0) return this.#leftovers();
    if (!stderr.includes("has active endpoints"))
      throw new Error(`compose down ended with ${code}: ${stderr}`);
    const inside = "{{if eq (len .Containers) 0}}none{{end}}";
    const left = await this.#leftovers();
    const checked = left.map(async (id) => {
      const { stdout } = await docker(["network", "inspect", "--format", inside, id]);
      return stdout === "none" ? [] : [id];
    });
    return (await Promise.all(checked)).flat();
  }

  /** Containers, networks and named volumes that bear the project's name. */
  async #leftovers(): Promise<string[]> {
    const label = `label=com.docker.compose.project=${this.name}`;
    const kinds = [
      ["ps", "-a"],
      ["network", "ls"],
      ["volume", "ls"],
    ] as const;
    const found = await Promise.all(kinds.map(([...kind]) => said(...kind, "-q", "--filter", label)));
    return found.flatMap(lines);
  }
}
