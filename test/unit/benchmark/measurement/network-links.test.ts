import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { bytesBetween, readNetworkLinks } from "../../../../src/benchmark/measurement/network-links.js";

let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "links-"));
});

afterEach(() => {
  rmSync(root, { recursive: true });
});

function addLink(name: string, speed: string | undefined, bytes: readonly [number, number], device = true) {
  const folder = join(root, name);
  mkdirSync(join(folder, "statistics"), { recursive: true });
  if (device) mkdirSync(join(folder, "device"), { recursive: true });
  if (speed !== undefined) writeFileSync(join(folder, "speed"), `${speed}\n`);
  writeFileSync(join(folder, "statistics/rx_bytes"), `${bytes[0]}\n`);
  writeFileSync(join(folder, "statistics/tx_bytes"), `${bytes[1]}\n`);
}

describe("links of the machine", () => {
  test("are those of devices that state their rate", async () => {
    addLink("eth1", "1000", [5, 7]);
    addLink("eth0", "25000", [1, 2]);
    addLink("virtual", "-1", [1, 2]);
    addLink("silent", undefined, [1, 2]);
    addLink("veth0", "10000", [1, 2], false);
    expect(await readNetworkLinks(root)).toEqual([
      { name: "eth0", bits_per_second: 25e9, received_bytes: 1, sent_bytes: 2 },
      { name: "eth1", bits_per_second: 1e9, received_bytes: 5, sent_bytes: 7 },
    ]);
  });

  test("carried the growth of their counters; a link that is new or was set up anew is left out", async () => {
    addLink("eth0", "1000", [100, 200]);
    addLink("eth1", "1000", [100, 200]);
    const before = await readNetworkLinks(root);
    addLink("eth0", "1000", [150, 260]);
    addLink("eth1", "1000", [3, 4]);
    addLink("eth2", "1000", [3, 4]);
    expect(bytesBetween(before, await readNetworkLinks(root))).toEqual([
      { name: "eth0", bits_per_second: 1e9, received_bytes: 50, sent_bytes: 60 },
    ]);
  });
});
