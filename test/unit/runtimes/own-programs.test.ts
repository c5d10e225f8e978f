import { expect, test } from "vitest";
import { goVersionIn, imageVersion, versionIn } from "../../../src/runtimes/own-programs.js";

test.each([
  ["Valkey server v=8.1.1 sha=00000000:0 malloc=jemalloc-5.3.0 bits=64", "8.1.1"],
  ["Redis server v=8.0.2 sha=00000000:1 malloc=jemalloc-5.3.0", "8.0.2"],
  ["memcached 1.6.38", "1.6.38"],
  ["some-server v0.4.40", "0.4.40"],
  ["usage: some-server [FILE]", "unknown"],
])("the version of a program that prints %j is %s", (printed, version) => {
  expect(versionIn(printed)).toBe(version);
});

test.each([
  ["mod\tgithub.com/x/y\tv1.4.1-0.20260122083618-3fb702589d36\th1:a=\ndep\tz\tv1.0.0", "3fb70258"],
  ["mod\tgithub.com/x/y\tv0.0.0-20260122083618-3fb702589d36\th1:a=", "3fb70258"],
  ["mod\tgithub.com/x/y\tv1.2.3\th1:a=", "1.2.3"],
  ["mod\tgithub.com/x/y\t(devel)\t\nbuild\tvcs.revision=3fb702589d36aa\n", "3fb70258"],
  ["mod\tgithub.com/x/y\t(devel)\t\n", undefined],
])("a Go program with the build information %j has the version %s", (information, version) => {
  expect(goVersionIn(Buffer.from(`\x7fELF\0\xff path\tx\n${information}\0\0`, "latin1"))).toBe(version);
});

test.each([
  ["envoyproxy/ratelimit:3fb70258", "3fb70258"],
  ["registry:5000/ratelimit:v2@sha256:00", "v2"],
  ["registry:5000/ratelimit", "0123456789ab"],
  ["envoyproxy/ratelimit:latest", "0123456789ab"],
])("the image %s has the version %s", (name, version) => {
  expect(imageVersion({ name, id: "sha256:0123456789abcdef" })).toBe(version);
});
