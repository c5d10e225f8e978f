import { ownLibraries } from "../libraries.js";
import {
  type GetRateLimits,
  GUBERNATOR,
  type GubernatorRequest,
  type GubernatorResponse,
  HEALTH_PATH,
} from "../limiters/gubernator.js";
import type { ClientDescription } from "../target-types.js";
import { commonProperties } from "./client-settings.js";
import { GRPC_PACKAGE, openGrpc } from "./grpc.js";
import type { GrpcMethod } from "./grpc-method.js";
import { HTTP_PACKAGE, openHttpPool, postJson } from "./http-pool.js";
import { namedPort, withoutStore } from "./shard-keys.js";

const method: GrpcMethod = {
  package: "pb.gubernator",
  service: "V1",
  method: "GetRateLimits",
  request: "GetRateLimitsReq",
  response: "GetRateLimitsResp",
  messages: {
    GetRateLimitsReq: "repeated RateLimitReq requests",
    RateLimitReq:
      "string name, string unique_key, int64 hits, int64 limit, int64 duration, Algorithm algorithm",
    GetRateLimitsResp: "repeated RateLimitResp responses",
    RateLimitResp: "Status status, int64 limit, int64 remaining, int64 reset_time, string error",
  },
  enums: {
    Algorithm: { TOKEN_BUCKET: 0, LEAKY_BUCKET: 1 },
    Status: { UNDER_LIMIT: 0, OVER_LIMIT: 1 },
  },
};

export const gubernatorGrpc: ClientDescription = {
  id: "gubernator-grpc",
  package: GRPC_PACKAGE,
  stores: [GUBERNATOR],
  topologies: ["standalone"],
  ...commonProperties,
  limiter: GUBERNATOR,
  // No `native`: load programs would take an answer with an `error` for a decision.
  autoPipelining: () => "gRPC sends all calls of a connection at once anyway",
  async open({ nodes: [node] }, { libraries = ownLibraries } = {}) {
    const place = namedPort(node, "grpc");
    const connections = await openGrpc<GubernatorRequest, GubernatorResponse>(
      libraries,
      place,
      method,
    );
    // A message leaves out what is 0, and so the status of an admission.
    const getRateLimits: GetRateLimits = async (request) => {
      const { responses = [] } = await connections.call(request);
      return { responses: responses.map((response) => ({ status: "UNDER_LIMIT", ...response })) };
    };
    return withoutStore({ ...connections, handle: getRateLimits });
  },
};

const PATH = "/v1/GetRateLimits";

export const gubernatorHttp: ClientDescription = {
  ...gubernatorGrpc,
  id: "gubernator-http",
  package: HTTP_PACKAGE,
  autoPipelining: () => "HTTP/1.1 answers one request after the other on a connection",
  async open({ nodes: [node] }, { libraries = ownLibraries } = {}) {
    const pool = await openHttpPool(libraries, namedPort(node, "http"), HEALTH_PATH);
    return withoutStore({
      ...pool,
      handle: postJson(pool, PATH, "gubernator") satisfies GetRateLimits,
    });
  },
};
