import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Link } from "../contract/result.js";

const LINKS = "/sys/class/net";
const MEGABIT = 1e6;

async function readLink(root: string, name: string): Promise<Link[]> {
  const numberOf = async (file: string) => Number(await readFile(join(root, name, file), "utf8"));
  try {
    // Bridges, loopback and the links of containers are no devices; some of them tell a rate that binds nothing.
    await stat(join(root, name, "device"));
    const megabits = await numberOf("speed");
    if (!(megabits > 0)) return [];
    const received_bytes = await numberOf("statistics/rx_bytes");
    const sent_bytes = await numberOf("statistics/tx_bytes");
    return [{ name, bits_per_second: megabits * MEGABIT, received_bytes, sent_bytes }];
  } catch {
    // A link that is down, or one that knows no rate, cannot be asked for it.
    return [];
  }
}

/** The physical links of this machine that tell their rate, with their counters since it started; Linux only. */
export async function readLinks(root = LINKS): Promise<Link[]> {
  const names = await readdir(root).catch(() => []);
  const links = await Promise.all(names.sort().map((name) => readLink(root, name)));
  return links.flat();
}

/** What went over each link between two readings; a link that came or went in between is left out. */
export function carriedSince(before: readonly Link[], after: readonly Link[]): Link[] {
  return after.flatMap((link) => {
    const first = before.find(({ name }) => name === link.name);
    if (!first) return [];
    const received_bytes = link.received_bytes - first.received_bytes;
    const sent_bytes = link.sent_bytes - first.sent_bytes;
    // Counters of a link that was set up anew begin at nothing.
    return received_bytes < 0 || sent_bytes < 0 ? [] : [{ ...link, received_bytes, sent_bytes }];
  });
}
