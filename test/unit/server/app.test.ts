import { describe } from "vitest";
import { serverContract } from "../../suites/server.js";

// The others are installed when they are first used: see the integration tests.
describe.each(["fastify", "express"])("%s", (framework) => serverContract(framework));
