import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { Dialogue } from "../../../src/runtimes/dialogue.js";

test("each line is answered by one line, in order, however the answers come", async () => {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const dialogue = new Dialogue(input, output);
  const answers = [dialogue.ask("one"), dialogue.ask("two")];
  const written = String(input.read());
  output.write("fir");
  output.write("st\nsec");
  output.write("ond\n");
  expect(await Promise.all(answers)).toEqual(["first", "second"]);
  expect(written).toBe("one\ntwo\n");
});

test("who ends without an answer gives none, now and later", async () => {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const dialogue = new Dialogue(input, output);
  const answer = dialogue.ask("one");
  output.end();
  expect(await answer).toBeUndefined();
  expect(await dialogue.ask("two")).toBeUndefined();
});

test("input that nobody takes any more is no defect", async () => {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const dialogue = new Dialogue(input, output);
  const answer = dialogue.ask("one");
  input.destroy(new Error("EPIPE"));
  output.end();
  expect(await answer).toBeUndefined();
});
