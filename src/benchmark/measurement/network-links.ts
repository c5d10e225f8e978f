import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import type { NetworkLink } from "../../contract/generator-part.js";

const LINKS = "/sys/class/net";
const MEGABIT = 1e6;

async function readLink(root: string, name: string): Promise<NetworkLink[]> {
  const numberOf = async (file: string) => Number(await readFile(join(root, name, file), "utf8"));
  try {
    // Bridges, loopback and the links of containers are no devices; the rate that some of them
    // state limits nothing.
    await stat(join(root, name, "device"));
    const megabits = await numberOf("speed");
    if (!(megabits > 0)) return [];
    const received_bytes = await numberOf("statistics/rx_bytes");
    const sent_bytes = await numberOf("statistics/tx_bytes");
    return [{ name, bits_per_second: megabits * MEGABIT, received_bytes, sent_bytes }];
  } catch {
    // A link that is down or has no rate gives an error.
    return [];
  }
}

/**
 * Reads the physical links of this machine that state their rate, with their counters since boot.
 * Only Linux reports them.
 */
export async function readNetworkLinks(root = LINKS): Promise<NetworkLink[]> {
  const names = await readdir(root).catch(() => []);
  const links = await Promise.all(names.sort().map((name) => readLink(root, name)));
  return links.flat();
}

/**
 * The bytes on each link between two readings, without links that appeared or disappeared
 * in between.
 */
export function bytesBetween(
  before: readonly NetworkLink[],
  after: readonly NetworkLink[],
): NetworkLink[] {
  return after.flatMap((link) => {
    const first = before.find(({ name }) => name === link.name);
    if (!first) return [];
    const received_bytes = link.received_bytes - first.received_bytes;
    const sent_bytes = link.sent_bytes - first.sent_bytes;
    // The counters of a link that was set up anew start at 0.
    return received_bytes < 0 || sent_bytes < 0 ? [] : [{ ...link, received_bytes, sent_bytes }];
  });
}
