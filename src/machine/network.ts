import { readFileSync } from "node:fs";
import { totals } from "../contract/numbers.js";

export interface NetworkBytes {
  received_bytes: number;
  sent_bytes: number;
}

/** Links that carry what another one carries, too: those of containers, and bridges. */
const INNER = /^(lo|veth|br|docker|cni|cbr|flannel|cali|cilium|tunl|kube|virbr|dummy|ifb)/;

/** The links that lead out, all together. @param text of /proc/net/dev @returns undefined where there is none */
export function networkOf(text: string): NetworkBytes | undefined {
  const links = text.split("\n").flatMap((line) => {
    const [, name, counters] = /^\s*([^:\s]+):\s*(.+)$/.exec(line) ?? [];
    // Received bytes come first, sent ones ninth.
    const values = counters?.trim().split(/\s+/).map(Number) ?? [];
    const [received_bytes, sent_bytes] = [values[0], values[8]];
    if (!name || INNER.test(name) || received_bytes === undefined || sent_bytes === undefined) return [];
    return [{ received_bytes, sent_bytes }];
  });
  return links.length > 0 ? totals(["received_bytes", "sent_bytes"], links) : undefined;
}

export function readNetwork(): NetworkBytes | undefined {
  try {
    return networkOf(readFileSync("/proc/net/dev", "utf8"));
  } catch {
    return undefined;
  }
}
