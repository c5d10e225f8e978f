import { beforeAll } from "vitest";
import { installedFor } from "../../helpers/on-demand.js";
import { limiterContract } from "../../suites/limiter.js";

beforeAll(() => installedFor("memory+nest+nestjs-throttler"));

limiterContract("nestjs-throttler");
