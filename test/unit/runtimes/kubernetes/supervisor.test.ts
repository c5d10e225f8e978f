import { type ChildProcess, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { describe, expect, onTestFinished, test } from "vitest";
import {
  commandLine,
  INPUT_COMMAND,
  MOST_LOGGED_BYTES,
  SUPERVISOR,
  SUPERVISOR_FOLDER,
} from "../../../../src/runtimes/kubernetes/supervisor.js";
import {
  LogReader,
  type SupervisorMessage,
} from "../../../../src/runtimes/kubernetes/supervisor-log.js";
import { startTimeOf } from "../../../../src/runtimes/processes.js";
import { until } from "../../../helpers/store.js";

/** The supervisor as a process of this machine, its log read as that of a pod. */
function supervised(script: string, takesInput = false) {
  const folder = mkdtempSync(join(tmpdir(), "supervisor-"));
  const mark = "mark-1234";
  const text = SUPERVISOR.replaceAll(SUPERVISOR_FOLDER, `${folder}/own`);
  const words = ["-c", text, "sh", mark, takesInput ? "yes" : "no"];
  const child = spawn("/bin/sh", [...words, process.execPath, "-e", script], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const messages: SupervisorMessage[] = [];
  const stderr: Buffer[] = [];
  const reader = new LogReader(
    mark,
    (chunk) => stderr.push(chunk),
    (message) => messages.push(message),
  );
  child.stdout.on("data", (chunk) => reader.write(chunk));
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  onTestFinished(async () => {
    child.kill("SIGTERM");
    await ended;
    rmSync(folder, { recursive: true, force: true });
  });
  return {
    child,
    messages,
    ended,
    own: `${folder}/own`,
    stderr: () => Buffer.concat(stderr).toString(),
  };
}

const sh = (line: string): ChildProcess => spawn("/bin/sh", ["-c", line], { stdio: "ignore" });
const seen = (messages: readonly SupervisorMessage[], is: string) =>
  messages.filter((message) => message.is === is).length;

describe("the supervisor", () => {
  test("tells standard error and output of its program apart, and its exit code", async () => {
    const { messages, ended, stderr } = supervised(
      'console.error("a line\\n\\nafter an empty one"); process.stdout.write("no newline\\n\\n at the end"); process.stderr.write("unfinished"); process.exitCode = 7',
    );
    expect(await ended).toBe(7);
    expect(stderr()).toBe("a line\n\nafter an empty one\nunfinished\n");
    const output = messages.find((message) => message.is === "output");
    expect(output?.text?.toString()).toBe("no newline\n\n at the end");
    expect(messages.at(-1)).toEqual({ is: "end", code: 7, forMemory: false });
  });

  test("starts its program again after a kill, once it is told to", async () => {
    const { messages, ended, own, child } = supervised(
      'console.error("here"); setInterval(() => {}, 1000)',
    );
    await until(async () => seen(messages, "started") === 1);
    sh(`: >${own}/hold; kill -9 $(cat ${own}/pid)`);
    await until(async () => seen(messages, "down") === 1);
    sh(`rm ${own}/hold; echo start >${own}/control`);
    await until(async () => seen(messages, "started") === 2);
    expect(seen(messages, "end")).toBe(0);
    const pid = Number(readFileSync(`${own}/pid`, "utf8"));
    child.kill("SIGTERM");
    expect(await ended).toBe(143);
    await until(async () => (await startTimeOf(pid)) === undefined);
  });

  test("keeps an output that is too long for a log, with its hash", async () => {
    const bytes = MOST_LOGGED_BYTES + 1;
    const { messages, own } = supervised(`process.stdout.write("x".repeat(${bytes}))`);
    await until(async () => seen(messages, "end") === 1);
    const sha256 = createHash("sha256").update("x".repeat(bytes)).digest("hex");
    expect(messages.find((message) => message.is === "output")).toEqual({
      is: "output",
      bytes,
      sha256,
    });
    expect(readFileSync(`${own}/output`).length).toBe(bytes);
  });

  test("passes lines on to its program", async () => {
    const { own, messages, ended } = supervised(
      'process.stdin.once("data", (line) => { process.stdout.write(line); process.exit(0); })',
      true,
    );
    await until(async () => seen(messages, "started") === 1);
    sh(`printf %s 'it is $HOME\n' >${own}/input`);
    expect(await ended).toBe(0);
    expect(messages.find((message) => message.is === "output")?.text?.toString()).toBe(
      "it is $HOME\n",
    );
  });
});

test("a log is read in pieces of any size, and an output with another hash is not taken for whole", () => {
  const text = "the output\nmark end 0 itself\n";
  const sha256 = createHash("sha256").update(text).digest("hex");
  const log = (hash: string) =>
    `\nmark started 12\nx\n\nmark output ${text.length} ${hash}\n${text}\nmark end 0 itself\n`;
  const read = (whole: string, size: number): SupervisorMessage[] => {
    const messages: SupervisorMessage[] = [];
    const reader = new LogReader(
      "mark",
      () => {},
      (message) => messages.push(message),
    );
    const bytes = Buffer.from(whole);
    for (let at = 0; at < bytes.length; at += size) reader.write(bytes.subarray(at, at + size));
    expect(reader.bytes).toBe(bytes.length);
    return messages;
  };
  for (const size of [1, 7, 1_000]) {
    const [, output, end] = read(log(sha256), size);
    expect(output?.is === "output" && output.text?.toString()).toBe(text);
    expect(end).toEqual({ is: "end", code: 0, forMemory: false });
  }
  const [, damaged] = read(log("0".repeat(64)), 5);
  expect(damaged).toEqual({ is: "output", bytes: text.length, sha256: "0".repeat(64) });
});

test("a command and its variables reach a process as they are, and its input stays its own", async () => {
  const environment = { QUOTED: `it's "$HOME" \`x\``, LINES: "one\ntwo\n" };
  const script =
    "process.stdin.pipe(process.stdout); console.log(process.env.QUOTED + process.env.LINES + process.argv[1])";
  const child = spawn("/bin/sh", ["-c", INPUT_COMMAND], { stdio: ["pipe", "pipe", "inherit"] });
  const output = new PassThrough();
  child.stdout.pipe(output);
  child.stdin.end(
    `${commandLine([process.execPath, "-e", script, "$(no)"], environment)}its own input`,
  );
  const chunks: Buffer[] = [];
  for await (const chunk of output) chunks.push(chunk);
  expect(Buffer.concat(chunks).toString()).toBe(
    `${environment.QUOTED}${environment.LINES}$(no)\nits own input`,
  );
});
