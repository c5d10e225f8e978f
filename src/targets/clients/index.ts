import type { ClientDescription } from "../types.js";
import { memory, none } from "./controls.js";
import { envoyGrpc } from "./envoy-grpc.js";
import { envoyHttp } from "./envoy-http.js";
import { gubernatorGrpc } from "./gubernator-grpc.js";
import { gubernatorHttp } from "./gubernator-http.js";
import { ioredis } from "./ioredis.js";
import { iovalkey } from "./iovalkey.js";
import { memcached } from "./memcached.js";
import { nodeRedis } from "./node-redis.js";
import { throttlecrabGrpc } from "./throttlecrab-grpc.js";
import { throttlecrabHttp } from "./throttlecrab-http.js";
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
