import { beforeAll } from "vitest";
import { installedFor } from "../../helpers/on-demand.js";
import { limiterContract } from "../../suites/limiter.js";

beforeAll(() => installedFor("memory+express-rate-limit"));

limiterContract("express-rate-limit");
