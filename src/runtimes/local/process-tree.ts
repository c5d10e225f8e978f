import { readdir, readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { execa } from "execa";
import pidusage from "pidusage";
import { sum } from "../../kit/numbers.js";
import {
  endProcess,
  identityOf,
  STOP_WITHIN_MS,
  signalGroup,
  signalProcess,
  startTimeOf,
} from "../processes.js";
import type { PartCounters } from "../runtime-types.js";

/** A process as the system lists it. */
interface ListedProcess {
  pid: number;
  parent: number;
  /** The leader of its group. A process whose parent has ended stays in its group. */
  group: number;
  /** The CPU time of the children that have ended and that it has waited for, in clock ticks. */
  ended_ticks: number;
}

/** The clock ticks of a second, which are 100 on every architecture that Node.js runs on. */
const TICKS_PER_S = 100;

/** A process from the text of /proc/PID/stat; undefined for one that has ended. */
export function processFromStat(pid: number, stat: string): ListedProcess | undefined {
  // The name in parentheses may hold spaces and parentheses, and the fields after it may not.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [state = "", parent, group] = fields;
  if (fields.length < 20 || state === "X") return undefined;
  const ended_ticks = Number(fields[13]) + Number(fields[14]);
  return { pid, parent: Number(parent), group: Number(group), ended_ticks };
}

async function processesOfLinux(): Promise<ListedProcess[]> {
  const names = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const processes = names.map(async (name) => {
    // A process may end at any moment.
    const stat = await readFile(`/proc/${name}/stat`, "utf8").catch(() => "");
    return processFromStat(Number(name), stat) ?? [];
  });
  return (await Promise.all(processes)).flat();
}

/** Other systems do not tell what ended children have used. */
async function processesByPs(): Promise<ListedProcess[]> {
  const { stdout } = await execa("ps", ["-axo", "pid=,ppid=,pgid="]);
  return stdout.split("\n").flatMap((line) => {
    const [pid, parent, group] = line.trim().split(/\s+/).map(Number);
    if (pid === undefined || parent === undefined || group === undefined) return [];
    return { pid, parent, group, ended_ticks: 0 };
  });
}

/** A process, all that are in its group, and all that any of them has started. */
export function treeOf(root: number, processes: readonly ListedProcess[]): ListedProcess[] {
  const tree = new Set(processes.filter(({ pid, group }) => pid === root || group === root));
  for (let before = 0; before < tree.size; ) {
    before = tree.size;
    const parents = new Set([...tree].map(({ pid }) => pid));
    for (const candidate of processes) if (parents.has(candidate.parent)) tree.add(candidate);
  }
  return [...tree];
}

export async function processTree(root: number): Promise<ListedProcess[]> {
  const all = process.platform === "linux" ? processesOfLinux() : processesByPs();
  return treeOf(root, await all);
}

/**
 * Ends a process that leads its group, and all that it has started, wherever that is now: a worker
 * may have left the group, and may outlive its leader.
 */
export async function stopTree(root: number, ended: Promise<unknown>): Promise<void> {
  const tree = await processTree(root);
  const members = await Promise.all(tree.map(({ pid }) => identityOf(pid)));
  signalGroup(root, "SIGTERM");
  for (const { pid, group } of tree) if (group !== root) signalProcess(pid, "SIGTERM");
  await Promise.race([ended, sleep(STOP_WITHIN_MS)]);
  await Promise.all(members.map(endProcess));
  await ended;
}

/**
 * Ends a leftover process and all that it has started, also workers that lead groups of their own.
 * Once the process itself is gone, nothing tells which they were.
 * @throws Error where one of them does not end
 */
export async function endTree(root: { pid: number; started: string }): Promise<void> {
  if ((await startTimeOf(root.pid)) !== root.started) return;
  const tree = await processTree(root.pid);
  const members = await Promise.all(tree.map(({ pid }) => identityOf(pid)));
  // A process that still runs could start others, so it ends first.
  for (const member of [root, ...members]) await endProcess(member);
}

/**
 * What a process and its descendants have used, those included that have ended and that their
 * parent has waited for. Memory that processes share counts in each of them.
 * @throws Error where the process has ended
 */
export async function treeCounters(root: number): Promise<PartCounters> {
  const tree = await processTree(root);
  const used = await pidusage(tree.map(({ pid }) => pid));
  // A process that has ended meanwhile is absent.
  const usages = Object.values(used).filter((usage) => usage !== undefined && usage !== null);
  if (usages.length === 0) throw new Error("it has ended");
  const live_ms = sum(usages.map(({ ctime }) => ctime));
  const ended_s = sum(tree.map(({ ended_ticks }) => ended_ticks)) / TICKS_PER_S;
  return {
    cpu_us: Math.round(live_ms * 1000 + ended_s * 1e6),
    resident_bytes: sum(usages.map(({ memory }) => memory)),
  };
}
