import { totals } from "./numbers.js";

/** The bytes that network links received and sent since they were set up. */
export type NetworkBytes = { received_bytes: number; sent_bytes: number };

/**
 * Adds up the bytes of network links.
 * @param text the kernel's list of links, which is `/proc/net/dev` or `/proc/PID/net/dev`
 * @param isCounted whether the link of a name counts
 * @returns undefined without a link that counts
 */
export function networkBytesIn(
  text: string,
  isCounted: (link: string) => boolean,
): NetworkBytes | undefined {
  const links = text.split("\n").flatMap((line) => {
    const [, name, counters] = /^\s*([^:\s]+):\s*(.+)$/.exec(line) ?? [];
    if (!name || !counters || !isCounted(name)) return [];

    // Received bytes come first, sent ones ninth.
    const values = counters.trim().split(/\s+/).map(Number);
    const [received_bytes, sent_bytes] = [values[0], values[8]];
    if (received_bytes === undefined || sent_bytes === undefined) return [];
    return [{ received_bytes, sent_bytes }];
  });
  return links.length > 0 ? totals(["received_bytes", "sent_bytes"], links) : undefined;
}
