import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { LineClient } from "../../../src/runtimes/part-output.js";

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
