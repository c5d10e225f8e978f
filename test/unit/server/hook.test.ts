import { describe } from "vitest";
import { hookContract } from "../../suites/hook.js";

describe.each([
  ["memory+fastify-rate-limit", "fastify-rate-limit"],
  ["memory+express+express-rate-limit", "express-rate-limit"],
])("%s", (target, limiter) => hookContract(target, limiter));
