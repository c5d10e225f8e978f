import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { goVersionIn, imageVersion, versionIn } from "../../../src/runtimes/own-programs.js";
import { LineClient, PartOutput } from "../../../src/runtimes/part-output.js";

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
  expect(goVersionIn(Buffer.from(`\x7fELF\0\xff path\tx\n${information}\0\0`, "latin1"))).toBe(
    version,
  );
});

test.each([
  ["envoyproxy/ratelimit:3fb70258", "3fb70258"],
  ["registry:5000/ratelimit:v2@sha256:00", "v2"],
  ["registry:5000/ratelimit", "0123456789ab"],
  ["envoyproxy/ratelimit:latest", "0123456789ab"],
])("the image %s has the version %s", (name, version) => {
  expect(imageVersion({ name, id: "sha256:0123456789abcdef" })).toBe(version);
});

test("each line gets one line as its answer, in order, however the answers are split", async () => {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const client = new LineClient(input, output);
  const answers = [client.request("one"), client.request("two")];
  const written = String(input.read());
  output.write("fir");
  output.write("st\nsec");
  output.write("ond\n");
  expect(await Promise.all(answers)).toEqual(["first", "second"]);
  expect(written).toBe("one\ntwo\n");
});

test("a process that ends without an answer resolves this and later requests with undefined", async () => {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const client = new LineClient(input, output);
  const answer = client.request("one");
  output.end();
  expect(await answer).toBeUndefined();
  expect(await client.request("two")).toBeUndefined();
});

test("writing to a process that has ended is not a defect", async () => {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const client = new LineClient(input, output);
  const answer = client.request("one");
  input.destroy(new Error("EPIPE"));
  output.end();
  expect(await answer).toBeUndefined();
});

function outputOfStreams() {
  const stdout = new PassThrough();
  const stderr = new PassThrough();
  return { stdout, stderr, output: new PartOutput(stdout, stderr) };
}

test("lines of standard error are complete however they arrive, and an unfinished last line counts", () => {
  const { stderr, output } = outputOfStreams();
  const heard: string[] = [];
  output.onLine((line) => heard.push(line));
  for (const chunk of ["fir", "st\nsecond\nth", "ird"]) stderr.emit("data", Buffer.from(chunk));
  expect(heard).toEqual(["first", "second"]);
  output.finish();
  expect(heard).toEqual(["first", "second", "third"]);
  expect(output.lastLines()).toEqual(heard);
});

test("a listener that comes later gets the lines so far, once and in order", () => {
  const { stderr, output } = outputOfStreams();
  stderr.emit("data", Buffer.from("first\nsecond\nthi"));
  const heard: string[] = [];
  output.onLine((line) => heard.push(line));
  expect(heard).toEqual(["first", "second"]);
  stderr.emit("data", Buffer.from("rd\n"));
  expect(heard).toEqual(["first", "second", "third"]);
});

test.each(["stderr", "stdout"] as const)("empty lines at the end of %s give no reason", (name) => {
  const { output, ...streams } = outputOfStreams();
  streams[name].emit("data", Buffer.from("the reason\n\n \n"));
  output.finish();
  expect(output.lastLines()).toEqual(["the reason"]);
});
