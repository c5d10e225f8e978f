import { ownLibraries } from "../libraries.js";
import {
  type EnvoyHandle,
  type RateLimitRequest,
  type RateLimitResponse,
  requireService,
} from "../limiters/envoy-ratelimit.js";
import { domainOf, HEALTH_PATH, JSON_PATH } from "../services/envoy-ratelimit/index.js";
import type { ClientDescription } from "../target-types.js";
import { commonProperties } from "./client-settings.js";
import { GRPC_PACKAGE, openGrpc } from "./grpc.js";
import type { GrpcMethod } from "./grpc-method.js";
import { HTTP_PACKAGE, openHttpPool, postJson } from "./http-pool.js";
import { withoutStore } from "./shard-keys.js";

const shouldRateLimit: GrpcMethod = {
  package: "envoy.service.ratelimit.v3",
  service: "RateLimitService",
  method: "ShouldRateLimit",
  request: "RateLimitRequest",
  response: "RateLimitResponse",
  messages: {
    RateLimitRequest: "string domain, repeated Descriptor descriptors, uint32 hitsAddend",
    Descriptor: "repeated Entry entries",
    Entry: "string key, string value",
    RateLimitResponse: "Code overallCode, repeated DescriptorStatus statuses",
    DescriptorStatus:
      "Code code, RateLimit currentLimit, uint32 limitRemaining, Duration durationUntilReset",
    RateLimit: "uint32 requestsPerUnit",
    Duration: "int64 seconds, int32 nanos",
  },
  enums: { Code: { UNKNOWN: 0, OK: 1, OVER_LIMIT: 2 } },
};

export const envoyGrpc: ClientDescription = {
  id: "envoy-grpc",
  package: GRPC_PACKAGE,
  stores: ["redis", "valkey", "memcached"],
  topologies: ["standalone", "cluster", "cluster-3"],
  ...commonProperties,
  limiter: "envoy-ratelimit",
  service: "envoy-ratelimit",
  native: { kind: "grpc", method: shouldRateLimit, port: "grpc" },
  autoPipelining: () => "the service talks to the store; +pipeline-<n>us sets its pipeline",
  async open(place, { libraries = ownLibraries } = {}) {
    const service = requireService(place);
    const endpoint = { host: service.host, port: service.ports?.grpc ?? service.port };
    const connections = await openGrpc<RateLimitRequest, RateLimitResponse>(
      libraries,
      endpoint,
      shouldRateLimit,
    );
    const handle: EnvoyHandle = { domain: domainOf(service.nonce), decide: connections.call };
    return withoutStore({ ...connections, handle });
  },
};

/** A denial comes with 429; every other status is a bad request or a failed store. */
const DECIDED: readonly number[] = [200, 429];

export const envoyHttp: ClientDescription = {
  ...envoyGrpc,
  id: "envoy-http",
  package: HTTP_PACKAGE,
  native: { kind: "http", path: JSON_PATH },
  async open(place, { libraries = ownLibraries } = {}) {
    const service = requireService(place);
    const pool = await openHttpPool(libraries, service, HEALTH_PATH);
    const handle: EnvoyHandle = {
      domain: domainOf(service.nonce),
      decide: postJson(pool, JSON_PATH, "the service", DECIDED),
    };
    return withoutStore({ ...pool, handle });
  },
};
