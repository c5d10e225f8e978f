import { beforeAll, expect, test } from "vitest";
import { FILES_FOLDER } from "../../src/runtimes/containers/container-options.js";
import { Campaign } from "../helpers/campaign.js";
import { added, docker, everything, inspected, running } from "../helpers/engine.js";
import { expectReconciled } from "../helpers/expectations.js";
import { temporaryFolders } from "../helpers/folders.js";
import { moduleFile } from "../helpers/module-file.js";
import { needs } from "../helpers/needs.js";

const newFolder = temporaryFolders();

beforeAll(() => {
  docker("version");
});

test(
  "a store in a container loads a copy of the module of this machine",
  needs(["redis-cell"]),
  async () => {
    const before = everything();
    const file = moduleFile("redis-cell") ?? "";
    const campaign = Campaign.run(newFolder(), "ioredis@redis+redis-cell", [
      "--runtime",
      "docker",
      "--program",
      `redis-cell=${file}`,
      "--duration-mode",
      "custom:2",
    ]);
    await campaign.waitForLog("measure");
    const store = inspected(running().get("store-1") ?? "");
    // A copy that only root can write, in a volume that goes with the container.
    expect(store.Mounts).toMatchObject([{ Type: "volume", Destination: FILES_FOLDER }]);
    await campaign.ends();
    const [result] = campaign.measured;
    if (!result) throw new Error("a result");
    expectReconciled(result);
    expect(result.store?.modules).toMatchObject([{ id: "redis-cell", version: "1" }]);
    expect(result.verdict.status, JSON.stringify(result.verdict.reasons)).not.toBe("invalid");
    expect(added(before)).toEqual([]);
  },
);
