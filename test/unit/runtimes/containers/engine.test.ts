import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { join } from "node:path";
import Docker from "dockerode";
import { expect, onTestFinished, test } from "vitest";
import { EngineConnection, NoAnswer } from "../../../../src/runtimes/containers/engine.js";
import { temporaryFolders } from "../../../helpers/folders.js";

const newFolder = temporaryFolders();
/** A busy machine answers within them, too. */
const LIMITS_MS = { read: 1_000, change: 1_200, watch: 20, lost: 1_500 };

/** A connection to a stand-in for an engine, which answers as told. */
async function connected(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
  limits_ms = LIMITS_MS,
): Promise<EngineConnection> {
  const socketPath = join(newFolder(), "docker.sock");
  const server = createServer(answer).listen(socketPath);
  const connection = new EngineConnection(new Docker({ socketPath }), "Docker on far", limits_ms);
  onTestFinished(() => {
    connection.close();
    server.closeAllConnections();
    server.close();
  });
  return connection;
}

test("a read from an engine that hangs ends with the engine's name [R-engine-hangs-1]", async () => {
  const { docker } = await connected(() => {});
  await expect(docker.info()).rejects.toThrow(/^Docker on far does not answer: nothing within 1 s$/);
  await expect(docker.getContainer("x").remove()).rejects.toBeInstanceOf(NoAnswer);
});

test("an engine that stops answering is lost: what waits for it fails, and it is used again once it answers", async () => {
  let hangs = false;
  // It waits for the end of a container, which has no time-out of its own.
  const connection = await connected((request, response) => {
    if (!hangs && !request.url?.includes("/wait")) response.end('"OK"');
  });
  connection.watch();
  const lost = new Promise<string>((resolve) => connection.onLost(resolve));
  const waiting = connection.docker.getContainer("x").wait();
  await connection.docker.info();
  hangs = true;
  await expect(waiting).rejects.toBeInstanceOf(NoAnswer);
  expect(await lost).toMatch(/^Docker on far does not answer/);
  hangs = false;
  await expect.poll(() => connection.docker.info().catch(() => "lost")).toBe("OK");
});
