import type { StoreEngine } from "../../types.js";

/** ThrottleCrab, which decides itself. It listens for RESP on its main port, and for HTTP and gRPC on two others. */
export const throttlecrab: StoreEngine = {
  id: "throttlecrab",
  defaultPort: 6379,
  evidence: ["decisions"],
  nodeArguments: (store, _topology, { bind, port, ports }) => [
    ...["--redis", "--redis-host", bind, "--redis-port", String(port)],
    ...["--http", "--http-host", bind, "--http-port", String(ports.http)],
    ...["--grpc", "--grpc-host", bind, "--grpc-port", String(ports.grpc)],
    ...["--log-level", "warn"],
    ...(store.arguments ?? []),
  ],
  connect: async (nodes) => (await import("./session.js")).connect(nodes),
};
