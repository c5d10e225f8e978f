import { join } from "node:path";
import { definedOnly } from "../../kit/defined-only.js";
import {
  type GroupVersion,
  partNetworkIn,
  separate,
  unified,
} from "../containers/control-group.js";
import { type RunDelays, type ThreadTimes, threadTimesOf } from "../run-delay.js";
import type { PartCounters } from "../runtime-types.js";

const ROOT = "/sys/fs/cgroup";
/** Only control groups of the second version have it. */
const UNIFIED_FILE = `${ROOT}/cpu.stat`;
const NETWORK_FILE = "/proc/net/dev";

const pathsOf = ({ files }: GroupVersion): string[] =>
  files.map(({ controller, name }) => join(ROOT, controller, name));

/**
 * Prints files, each after a line with its path. Only the shell itself works: a process would be
 * counted.
 */
const printFiles = (paths: readonly string[]): string =>
  `for f in ${paths.join(" ")}; do echo "== $f"; while IFS= read -r l; do echo "$l"; done <$f; done`;

/**
 * A shell line that prints the files with a pod's counters, whichever version its control groups
 * have.
 */
export const READ_COUNTERS = [
  `if [ -f ${UNIFIED_FILE} ]`,
  `then ${printFiles([...pathsOf(unified), NETWORK_FILE])}`,
  `else ${printFiles([...pathsOf(separate), NETWORK_FILE])}`,
  "fi",
].join("; ");

/**
 * The counters in what `READ_COUNTERS` printed. @throws Error when a file is missing
 * @param hasOwnNetwork whether the pod's network is its own, so that its traffic can be told
 */
export function countersIn(printed: string, hasOwnNetwork: boolean): PartCounters {
  const texts = fileTextsIn(printed);
  const textOf = (path: string): string => {
    const text = texts.get(path);
    if (!text) throw new Error(`its pod has no ${path}`);
    return text;
  };

  const version = texts.has(UNIFIED_FILE) ? unified : separate;
  return {
    ...version.countersIn(pathsOf(version).map(textOf)),
    ...definedOnly({ network: hasOwnNetwork ? partNetworkIn(textOf(NETWORK_FILE)) : undefined }),
  };
}

/** The texts of the files by their paths. */
function fileTextsIn(printed: string): Map<string, string> {
  const texts = new Map<string, string>();
  for (const section of `\n${printed}`.split("\n== ").slice(1)) {
    const end = section.indexOf("\n");
    texts.set(section.slice(0, end), section.slice(end + 1));
  }
  return texts;
}

/** A shell line that prints the run delay of each thread in a pod. */
export const READ_RUN_DELAYS =
  'for f in /proc/[0-9]*/task/[0-9]*/schedstat; do { read -r l <"$f" && echo "$f $l"; } 2>/dev/null; done; true';

/** The delays in what `READ_RUN_DELAYS` printed; undefined where the system counts none. */
export function runDelaysIn(printed: string): RunDelays | undefined {
  const delays = new Map<string, ThreadTimes>();
  for (const line of printed.split("\n")) {
    const [path = "", ...columns] = line.split(" ");
    const times = threadTimesOf(columns.join(" "));
    if (path.startsWith("/proc/") && times) delays.set(path, times);
  }
  return delays.size > 0 ? delays : undefined;
}
