import { buildExpress } from "./express.js";
import { buildFastify } from "./fastify.js";
import type { BuildServer } from "./framework.js";
import { buildNest } from "./nest.js";

/** The adapter of each framework in `src/targets/frameworks.ts`. */
export const builders: Readonly<Record<string, BuildServer>> = {
  fastify: buildFastify,
  express: buildExpress,
  nest: buildNest,
};
