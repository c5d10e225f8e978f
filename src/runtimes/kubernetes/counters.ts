import { join } from "node:path";
import { type GroupVersion, networkOf, separate, unified } from "../containers/control-group.js";
import { type RunDelays, type ThreadTimes, threadTimesOf } from "../run-delay.js";
import type { PartCounters } from "../types.js";

const ROOT = "/sys/fs/cgroup";
const NETWORK = "/proc/net/dev";
const pathsOf = ({ files }: GroupVersion): string[] =>
  files.map(({ controller, name }) => join(ROOT, controller, name));

/** Prints files, each after a line with its path. Only the shell itself works: a process would be counted. */
const show = (paths: readonly string[]): string =>
  `for f in ${paths.join(" ")}; do echo "== $f"; while IFS= read -r l; do echo "$l"; done <$f; done`;

/** A shell line that prints the files with a pod's counters, whichever version its control groups have. */
export const READ_COUNTERS = `if [ -f ${ROOT}/cpu.stat ]; then ${show([...pathsOf(unified), NETWORK])}; else ${show([...pathsOf(separate), NETWORK])}; fi`;

/** The counters in what `READ_COUNTERS` printed. @throws Error when a file is missing */
export function countersIn(printed: string, ownNetwork: boolean): PartCounters {
  const texts = new Map<string, string>();
  for (const section of `\n${printed}`.split("\n== ").slice(1)) {
    const end = section.indexOf("\n");
    texts.set(section.slice(0, end), section.slice(end + 1));
  }
  const textOf = (path: string): string => {
    const text = texts.get(path);
    if (!text) throw new Error(`its pod has no ${path}`);
    return text;
  };
  const version = texts.has(`${ROOT}/cpu.stat`) ? unified : separate;
  return {
    ...version.countersIn(pathsOf(version).map(textOf)),
    ...(ownNetwork ? { network: networkOf(textOf(NETWORK)) } : {}),
  };
}

/** A shell line that prints the run delay of each thread in a pod. */
export const READ_RUN_DELAYS =
  'for f in /proc/[0-9]*/task/[0-9]*/schedstat; do { read -r l <"$f" && echo "$f $l"; } 2>/dev/null; done; true';

export function runDelaysIn(printed: string): RunDelays | undefined {
  const delays = new Map<string, ThreadTimes>();
  for (const line of printed.split("\n")) {
    const [path = "", ...text] = line.split(" ");
    const times = threadTimesOf(text.join(" "));
    if (path.startsWith("/proc/") && times) delays.set(path, times);
  }
  return delays.size > 0 ? delays : undefined;
}
