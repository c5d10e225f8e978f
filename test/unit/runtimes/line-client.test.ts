import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { LineClient } from "../../../src/runtimes/line-client.js";

test("each line is answered by one line, in order, however the answers come", async () => {
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

test("who ends without an answer gives none, now and later", async () => {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const client = new LineClient(input, output);
  const answer = client.request("one");
  output.end();
  expect(await answer).toBeUndefined();
  expect(await client.request("two")).toBeUndefined();
});

test("input that nobody takes any more is no defect", async () => {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const client = new LineClient(input, output);
  const answer = client.request("one");
  input.destroy(new Error("EPIPE"));
  output.end();
  expect(await answer).toBeUndefined();
});
