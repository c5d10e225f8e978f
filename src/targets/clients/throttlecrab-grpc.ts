import { ownLibraries } from "../libraries.js";
import {
  readAnswer,
  THROTTLECRAB,
  type Throttle,
  type ThrottleAnswer,
  type ThrottleRequest,
} from "../limiters/throttlecrab.js";
import type { ClientDescription } from "../target-types.js";
import { commonProperties } from "./client-settings.js";
import { GRPC_PACKAGE, openGrpc } from "./grpc.js";
import type { GrpcMethod } from "./grpc-method.js";
import { HTTP_PACKAGE, openHttpPool, postJson } from "./http-pool.js";
import { namedPort, withoutStore } from "./shard-keys.js";

const method: GrpcMethod = {
  package: "throttlecrab",
  service: "RateLimiter",
  method: "Throttle",
  request: "ThrottleRequest",
  response: "ThrottleResponse",
  messages: {
    ThrottleRequest:
      "string key, int32 max_burst, int32 count_per_period, int32 period, int32 quantity",
    ThrottleResponse:
      "bool allowed, int32 limit, int32 remaining, int32 retry_after, int32 reset_after",
  },
};

export const throttlecrabGrpc: ClientDescription = {
  id: "throttlecrab-grpc",
  package: GRPC_PACKAGE,
  stores: [THROTTLECRAB],
  topologies: ["standalone"],
  ...commonProperties,
  limiter: THROTTLECRAB,
  native: { kind: "grpc", method, port: "grpc" },
  autoPipelining: () => "gRPC sends all calls of a connection at once anyway",
  async open({ nodes: [node] }, { libraries = ownLibraries } = {}) {
    const place = namedPort(node, "grpc");
    const connections = await openGrpc<ThrottleRequest, Partial<ThrottleAnswer>>(
      libraries,
      place,
      method,
    );
    // A message leaves out what is false or 0.
    const throttle: Throttle = async (request) =>
      readAnswer({ allowed: false, ...(await connections.call(request)) });
    return withoutStore({ ...connections, handle: throttle });
  },
};

const PATH = "/throttle";

export const throttlecrabHttp: ClientDescription = {
  ...throttlecrabGrpc,
  id: "throttlecrab-http",
  package: HTTP_PACKAGE,
  native: { kind: "http", path: PATH, port: "http" },
  autoPipelining: () => "HTTP/1.1 answers one request after the other on a connection",
  async open({ nodes: [node] }, { libraries = ownLibraries } = {}) {
    const pool = await openHttpPool(libraries, namedPort(node, "http"), "/health");
    const post = postJson(pool, PATH, "ThrottleCrab");
    const throttle: Throttle = async (request) => readAnswer(await post(request));
    return withoutStore({ ...pool, handle: throttle });
  },
};
