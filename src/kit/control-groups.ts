import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { z } from "zod";
import { cpusInList } from "./cpu-list.js";

/** How often, and how long, the scheduler withheld CPUs from a control group that has a quota. */
export const throttlingSchema = z.strictObject({
  periods: z.int().min(0),
  throttled_periods: z.int().min(0),
  throttled_us: z.int().min(0),
});
export type Throttling = z.infer<typeof throttlingSchema>;

/** The fields of a kernel statistic with lines `name value`. */
export const fieldsOf = (text: string): Map<string, number> =>
  new Map(
    text.split("\n").map((line) => {
      const [name = "", value] = line.split(" ");
      return [name, Number(value)];
    }),
  );

/**
 * The throttling of a control group; undefined for a group without a CPU quota.
 * @param cpuStat the text of `cpu.stat`, of either version
 */
export function throttlingIn(cpuStat: string): Throttling | undefined {
  const fields = fieldsOf(cpuStat);
  const periods = fields.get("nr_periods") ?? 0;
  if (periods === 0) return undefined;
  // Version 1 counts nanoseconds.
  const throttled_us = fields.get("throttled_usec") ?? (fields.get("throttled_time") ?? 0) / 1000;
  return {
    periods,
    throttled_periods: fields.get("nr_throttled") ?? 0,
    throttled_us: Math.round(throttled_us),
  };
}

/**
 * The CPUs of this process's affinity, which a cpuset narrows; none where the system does not
 * report them.
 */
export function allowedCpus(root = "/"): number[] {
  const [, list = ""] =
    /^Cpus_allowed_list:\s*(\S+)$/m.exec(textOf(root, "proc/self/status") ?? "") ?? [];
  return cpusInList(list);
}

/** One of the control groups of this process. */
export interface OwnGroup {
  version: 1 | 2;
  /**
   * The content of one of its files without white space around it; undefined without such a file.
   */
  read(file: string): string | undefined;
}

/** The text of a file without white space around it; undefined where it cannot be read. */
function textOf(...path: readonly string[]): string | undefined {
  try {
    return readFileSync(join(...path), "utf8").trim();
  } catch {
    return undefined;
  }
}

/**
 * The control groups of this process under a controller, from its own up to the root, each of which
 * may have a limit. In a container the path may be that of the host. Then the root of what is
 * mounted is the container's own group.
 */
export function ownGroups(controller: "cpu" | "memory", root = "/"): OwnGroup[] {
  const mount = join(root, "sys/fs/cgroup");
  const lines = (textOf(root, "proc/self/cgroup") ?? "").split("\n").map((line) => {
    const [, controllers = "", ...path] = line.split(":");
    return { controllers: controllers.split(","), path: path.join(":") };
  });
  const separate = lines.find(({ controllers }) => controllers.includes(controller));
  const { path } = separate ?? lines.find(({ controllers }) => controllers.includes("")) ?? {};
  if (path === undefined) return [];

  const top = separate ? join(mount, controller) : mount;
  const version = separate ? 1 : 2;
  const folders: string[] = [];
  for (let folder = join(top, path); folder.startsWith(`${top}/`); folder = dirname(folder))
    folders.push(folder);
  // Seen from a namespace, a path may lead out of what is mounted, but the root of that exists.
  return [...folders, top].map((folder) => ({ version, read: (file) => textOf(folder, file) }));
}
