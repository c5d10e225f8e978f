import { readFileSync } from "node:fs";

/** Bytes since a machine, or a container with a network of its own, started. */
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
  if (links.length === 0) return undefined;
  const sum = (key: keyof NetworkBytes) => links.reduce((total, link) => total + link[key], 0);
  return { received_bytes: sum("received_bytes"), sent_bytes: sum("sent_bytes") };
}

/** @returns undefined where the system does not count it */
export function readNetwork(): NetworkBytes | undefined {
  try {
    return networkOf(readFileSync("/proc/net/dev", "utf8"));
  } catch {
    return undefined;
  }
}
