import { describe } from "vitest";
import { installedFor } from "../../helpers/on-demand.js";
import { hookContract } from "../../suites/hook.js";
import { serverContract } from "../../suites/server.js";

const libraries = await installedFor("none+nest");

serverContract("nest", libraries.fromFolder);

describe("its limiter", () =>
  hookContract("memory+nest+nestjs-throttler", "nestjs-throttler", libraries));
