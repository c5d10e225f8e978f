import { readFile } from "node:fs/promises";
import { execa } from "execa";

/**
 * When a process started, as text that differs for every process that ever has this id: a process id alone may
 * have been given to somebody else since.
 * @returns undefined when there is no such process
 */
export async function startTimeOf(pid: number): Promise<string | undefined> {
  if (process.platform === "linux") {
    const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => undefined);
    // The name in parentheses may hold spaces; what follows it may not. Field 22 is the start, in clock ticks.
    const fields = stat?.slice(stat.lastIndexOf(")") + 2).split(" ");
    return fields?.[0] === "Z" ? undefined : fields?.[19];
  }
  const { stdout, failed } = await execa("ps", ["-o", "lstart=", "-p", String(pid)], { reject: false });
  return failed ? undefined : stdout.trim() || undefined;
}
