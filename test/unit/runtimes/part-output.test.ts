import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { PartOutput } from "../../../src/runtimes/part-output.js";

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
