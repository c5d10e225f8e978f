import { buildExpress } from "./express.js";
import { buildFastify } from "./fastify.js";
import type { BuildServer } from "./framework.js";

/** The adapter of each framework in `src/targets/frameworks.ts`. */
export const builders: Readonly<Record<string, BuildServer>> = {
  fastify: buildFastify,
  express: buildExpress,
};
