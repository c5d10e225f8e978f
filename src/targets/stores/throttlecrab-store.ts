import { connect as connectSocket } from "node:net";
import type { StoreReading } from "../../contract/store.js";
import { environmentError, messageOf } from "../../kit/errors.js";
import { type DecidingNode, decidingEngine, get, metricsIn } from "./deciding.js";

const CONNECT_TIMEOUT_MS = 10_000;

/**
 * Opens a connection and closes it: any command over RESP, a PING too, would count as an admission.
 */
const requireListening = ({ host, name }: DecidingNode, port: number): Promise<void> =>
  new Promise((resolve, reject) => {
    const socket = connectSocket({ host, port, timeout: CONNECT_TIMEOUT_MS });
    const end = (problem?: string) => {
      socket.destroy();
      if (problem === undefined) resolve();
      else reject(environmentError(`${name} does not listen on port ${port}: ${problem}`));
    };
    socket.once("connect", () => end());
    socket.once("timeout", () => end("no answer"));
    socket.once("error", (error) => end(messageOf(error)));
  });

/** @throws environmentError where a counter is missing */
export function readingOf(name: string, metrics: string): StoreReading {
  const number = metricsIn(name, metrics);
  return {
    // It does not tell its version.
    version: "",
    uptime_s: Math.floor(number("throttlecrab_uptime_seconds")),
    decisions: number("throttlecrab_requests_allowed") + number("throttlecrab_requests_denied"),
  };
}

/**
 * ThrottleCrab, which decides itself. It listens for RESP on its main port, and for HTTP and gRPC
 * on two others.
 */
export const throttlecrab = decidingEngine({
  id: "throttlecrab",
  name: "ThrottleCrab",
  defaultPort: 6379,
  evidence: ["decisions"],
  nodeArguments: (store, _topology, { bind, port, ports }) => [
    "--redis",
    "--redis-host",
    bind,
    "--redis-port",
    String(port),
    "--http",
    "--http-host",
    bind,
    "--http-port",
    String(ports.http),
    "--grpc",
    "--grpc-host",
    bind,
    "--grpc-port",
    String(ports.grpc),
    "--log-level",
    "warn",
    ...(store.arguments ?? []),
  ],
  // All three ports must answer. HTTP is asked first, because a GET is not counted.
  async requireReady(node) {
    await get(node, "/health");
    await requireListening(node, node.port);
    await requireListening(node, node.ports.grpc);
  },
  readingOf,
});
