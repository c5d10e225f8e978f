import { expect, test } from "vitest";
import { Addresses } from "../../../../src/runtimes/containers/networks.js";

test("every part has an address of its own, and those given back are the last to be used again", () => {
  const addresses = new Addresses("172.18.0.0/28");
  const all = Array.from({ length: 5 }, () => addresses.take());
  expect(all).toEqual(["172.18.0.10", "172.18.0.11", "172.18.0.12", "172.18.0.13", "172.18.0.14"]);
  expect(() => addresses.take()).toThrow("no address left");
  addresses.giveBack("172.18.0.12");
  expect(addresses.take()).toBe("172.18.0.12");
});
