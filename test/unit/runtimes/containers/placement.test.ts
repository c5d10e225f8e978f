import { expect, test } from "vitest";
import type { PlacedKind } from "../../../../src/contract/machines.js";
import { hostOf } from "../../../../src/runtimes/containers/runtime.js";

const host = (name: string, ...roles: PlacedKind[]) => ({ spec: { name, roles } });
const hosts = [
  host("a", "store"),
  host("b", "server"),
  host("c", "generator"),
  host("d", "store", "generator"),
];
const nameOf = (part: Parameters<typeof hostOf>[0]) => hostOf(part, hosts).spec.name;

test.each([
  [{ role: "store-1", kind: "store", program: "valkey" }, "a"],
  [{ role: "store-2", kind: "store", program: "valkey" }, "d"],
  [{ role: "store-3", kind: "store", program: "valkey" }, "a"],
  [{ role: "service", kind: "service", program: "envoy-ratelimit" }, "a"],
  [{ role: "server-2", kind: "server", program: "server" }, "b"],
  [{ role: "probe", kind: "helper", program: "server" }, "b"],
  [{ role: "relay-1", kind: "helper", program: "server" }, "b"],
  [{ role: "generator-2", kind: "generator", program: "loadtest" }, "d"],
  [{ role: "probe", kind: "helper", program: "server", machine: "c" }, "c"],
] as const)("%o runs on %s", (part, name) => {
  expect(nameOf(part)).toBe(name);
});

test("a machine that is not there is refused by its name", () => {
  expect(() => nameOf({ role: "probe", program: "server", machine: "z" })).toThrow(/no machine z for probe/);
});
