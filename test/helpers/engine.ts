import { execFileSync, spawnSync } from "node:child_process";
import { onTestFinished } from "vitest";
import { ROOT } from "./programs.js";

/**
 * What Docker prints. @throws Error with what it complained of: here a missing engine is a failure
 */
export function docker(...parameters: string[]): string {
  return execFileSync("docker", parameters, {
    cwd: ROOT,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  }).trim();
}

/** As `docker`, for what may fail. */
export function tryDocker(...parameters: string[]): { code: number | null; output: string } {
  const { status, stdout, stderr } = spawnSync("docker", parameters, {
    cwd: ROOT,
    encoding: "utf8",
  });
  return { code: status, output: stdout + stderr };
}

const listed = (text: string): string[] => text.split("\n").filter(Boolean);

/** All containers, networks and volumes that are there now. */
export function everything(): string[] {
  return [
    ...listed(docker("ps", "--all", "--format", "container {{.Names}}")),
    ...listed(docker("network", "ls", "--format", "network {{.Name}}")),
    ...listed(docker("volume", "ls", "--format", "volume {{.Name}}")),
  ].sort();
}

/** What is there now and was not before. Others may take away what is theirs in the meantime. */
export const added = (before: readonly string[]): string[] =>
  everything().filter((thing) => !before.includes(thing));

/** Containers that the campaigns of this host run now, by role. */
export function running(): Map<string, string> {
  const format = '{{.ID}} {{.Label "ratelimit-bench.role"}}';
  const lines = listed(docker("ps", "--filter", "label=ratelimit-bench.owner", "--format", format));
  return new Map(lines.map((line) => line.split(" ").reverse() as [string, string]));
}

/** What the engine says of a container. */
export function inspected(id: string): {
  Config: { User: string; Env: string[] };
  HostConfig: Record<string, unknown> & { Ulimits: { Name: string; Hard: number }[] | null };
  NetworkSettings: { Ports: Record<string, { HostIp: string }[] | null> };
  Mounts: { Type: string; Source: string }[];
} {
  return JSON.parse(docker("inspect", id))[0];
}

/** The settings of a configuration file, by name. */
export function settingsOf(conf: string): Map<string, string> {
  const lines = conf.split("\n").filter((line) => line.trim() !== "" && !line.startsWith("#"));
  return new Map(
    lines.map((line) => {
      const [name = "", ...values] = line.split(/\s+/);
      return [name, values.join(" ").replaceAll('"', "")];
    }),
  );
}

/** A setting as `CONFIG GET` prints it: sizes in bytes. */
export function asPrinted(value: string): string {
  const { amount, unit } = /^(?<amount>\d+)(?<unit>kb|mb|gb)$/.exec(value)?.groups ?? {};
  if (amount === undefined || unit === undefined) return value;
  return String(Number(amount) * 1024 ** (["kb", "mb", "gb"].indexOf(unit) + 1));
}

/** The settings that `CONFIG GET` printed, by name. */
export function printedSettings(printed: string): Map<string, string> {
  const lines = printed.split("\n");
  return new Map(lines.flatMap((name, at) => (at % 2 === 0 ? [[name, lines[at + 1] ?? ""]] : [])));
}

/** A container of somebody else's, which must still run afterwards. */
export function foreign(): string {
  const id = docker(
    "run",
    "--detach",
    "--network",
    "none",
    "node:24-trixie-slim",
    "sleep",
    "infinity",
  );
  onTestFinished(() => void docker("rm", "--force", id));
  return id;
}

export const runs = (id: string): boolean =>
  docker("inspect", "--format", "{{.State.Running}}", id) === "true";
