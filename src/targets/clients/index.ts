import type { ClientDescription } from "../target-types.js";
import { memory, none } from "./controls.js";
import { envoyGrpc, envoyHttp } from "./envoy-grpc.js";
import { gubernatorGrpc, gubernatorHttp } from "./gubernator-grpc.js";
import { ioredis, iovalkey } from "./ioredis.js";
import { memcached } from "./memcached.js";
import { nodeRedis } from "./node-redis.js";
import { throttlecrabGrpc, throttlecrabHttp } from "./throttlecrab-grpc.js";
import { valkeyGlide } from "./valkey-glide.js";

export const clients: readonly ClientDescription[] = [
  valkeyGlide,
  iovalkey,
  ioredis,
  nodeRedis,
  memcached,
  throttlecrabHttp,
  throttlecrabGrpc,
  gubernatorHttp,
  gubernatorGrpc,
  envoyGrpc,
  envoyHttp,
  none,
  memory,
];
