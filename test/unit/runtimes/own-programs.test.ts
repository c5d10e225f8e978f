import { expect, test } from "vitest";
import { versionIn } from "../../../src/runtimes/own-programs.js";

test.each([
  ["Valkey server v=8.1.1 sha=00000000:0 malloc=jemalloc-5.3.0 bits=64", "8.1.1"],
  ["Redis server v=8.0.2 sha=00000000:1 malloc=jemalloc-5.3.0", "8.0.2"],
  ["memcached 1.6.38", "1.6.38"],
  ["some-server v0.4.40", "0.4.40"],
  ["usage: some-server [FILE]", "unknown"],
])("the version of a program that prints %j is %s", (printed, version) => {
  expect(versionIn(printed)).toBe(version);
});
