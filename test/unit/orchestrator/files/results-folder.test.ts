import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, test, vi } from "vitest";
import { EXIT } from "../../../../src/kit/errors.js";
import {
  createCampaignFolder,
  requireResultsRoot,
  timestamp,
  updateLatestLink,
  writeAtomically,
} from "../../../../src/orchestrator/files/results-folder.js";
import { EventLog, lineLog } from "../../../../src/orchestrator/ui/event-log.js";
import { expectFailure } from "../../../helpers/errors.js";
import { temporaryFolders } from "../../../helpers/folders.js";

const newFolder = temporaryFolders();
const RESULTS_DIR = fileURLToPath(
  new URL("../../../../src/orchestrator/files/results-folder.ts", import.meta.url),
);
const now = new Date(Date.UTC(2026, 0, 2, 3, 4, 5));

describe("a file is written completely or not at all", () => {
  test("when it cannot be renamed, the error is reported and no temporary file is left", async () => {
    const folder = newFolder();
    mkdirSync(join(folder, "taken"));
    await expect(writeAtomically(join(folder, "taken"), "text")).rejects.toThrow();
    await expect(writeAtomically(join(folder, "missing", "result.json"), "text")).rejects.toThrow();
    expect(readdirSync(folder)).toEqual(["taken"]);
  });

  test("when the disk becomes full, the old file is intact and no temporary file is left [R-full-disk-1]", async () => {
    const folder = newFolder();
    const path = join(folder, "result.json");
    await writeAtomically(path, "old");
    // As with a full disk, the first bytes can be written and the rest cannot.
    const program = `import { writeAtomically } from ${JSON.stringify(RESULTS_DIR)};
      await writeAtomically(process.argv[1], "x".repeat(100_000));`;
    const node = `exec "${process.execPath}" --import tsx --input-type=module -e '${program}' "$1"`;
    const { status, stderr } = spawnSync(
      "bash",
      ["-c", `trap '' XFSZ; ulimit -f 8; ${node}`, "bash", path],
      {
        encoding: "utf8",
        env: { ...process.env, TSX_DISABLE_CACHE: "1" },
      },
    );
    expect(status).toBe(1);
    expect(stderr).toContain("EFBIG");
    expect(readFileSync(path, "utf8")).toBe("old");
    expect(readdirSync(folder)).toEqual(["result.json"]);
  });

  test("a temporary file of a crashed writer is no obstacle [R-crash-2]", async () => {
    const folder = newFolder();
    writeFileSync(join(folder, `.result.json.${process.pid}.tmp`), "half");
    await writeAtomically(join(folder, "result.json"), "whole");
    expect(readFileSync(join(folder, "result.json"), "utf8")).toBe("whole");
  });
});

describe("a campaign's folder", () => {
  afterEach(() => vi.unstubAllEnvs());

  test("is named after its start, in UTC, so that names sort wherever the clock was set back", async () => {
    for (const zone of ["Pacific/Kiritimati", "America/New_York"]) {
      vi.stubEnv("TZ", zone);
      expect(timestamp(now)).toBe("20260102_030405");
    }
    // At 06:30 UTC clocks in New York go back from 02:00 to 01:00.
    const night = [5.5, 6.5].map((hour) =>
      timestamp(new Date(Date.UTC(2026, 10, 1, 0, hour * 60))),
    );
    expect(night).toEqual([...night].sort());
    const root = join(newFolder(), "deep", "root");
    expect(basename(await createCampaignFolder(root, now))).toBe("20260102_030405");
  });

  test("two campaigns of the same second have different folders", async () => {
    const root = newFolder();
    const folders = await Promise.all([1, 2, 3].map(() => createCampaignFolder(root, now)));
    const names = folders.map((folder) => basename(folder)).sort();
    expect(names).toEqual(["20260102_030405", "20260102_030406", "20260102_030407"]);
  });

  test("below something that is not a folder is an unfit environment [R-unwritable-1]", async () => {
    const file = join(newFolder(), "file");
    writeFileSync(file, "");
    await expectFailure(() => createCampaignFolder(join(file, "x"), now), EXIT.environment, file);
    await expectFailure(() => createCampaignFolder(file, now), EXIT.environment, file);
  });

  test.runIf(process.platform === "linux").each(["/proc", "/sys", "/dev/pts"])(
    "below %s, which keeps no files, is an unfit environment, and found out at once [R-unwritable-2]",
    async (kernel) => {
      const root = join(kernel, "ratelimit bench", "results");
      await expectFailure(() => requireResultsRoot(root), EXIT.environment, root, "--output");
      await expectFailure(
        () => createCampaignFolder(root, now),
        EXIT.environment,
        root,
        "--output",
      );
      expect(existsSync(join(kernel, "ratelimit bench"))).toBe(false);
    },
  );

  test("is checked before anything is created: the root need not exist yet", async () => {
    const root = join(newFolder(), "deep", "root");
    await requireResultsRoot(root);
    expect(existsSync(join(root, ".."))).toBe(false);
    const file = join(newFolder(), "file");
    writeFileSync(file, "");
    await expectFailure(() => requireResultsRoot(join(file, "x")), EXIT.environment, file);
  });
});

describe("`latest`", () => {
  test("points to the newest campaign, by a relative path", async () => {
    const root = newFolder();
    for (const second of [1, 2]) {
      const folder = await createCampaignFolder(root, new Date(2026, 0, 1, 0, 0, second));
      await updateLatestLink(folder);
      expect(readlinkSync(join(root, "latest"))).toBe(basename(folder));
    }
    expect(readdirSync(root)).toHaveLength(3);
  });

  test("that leads out of the root is left alone and refused before the first run [R-link-4]", async () => {
    const root = newFolder();
    const elsewhere = newFolder();
    symlinkSync(elsewhere, join(root, "latest"));
    await expectFailure(
      () => createCampaignFolder(root, now),
      EXIT.environment,
      "latest",
      elsewhere,
    );
    expect(readlinkSync(join(root, "latest"))).toBe(elsewhere);
    expect(readdirSync(root)).toEqual(["latest"]);
  });
});

describe("the log", () => {
  test("starts with the lines from before the file existed", () => {
    const folder = newFolder();
    const eventLog = new EventLog({ show: () => {}, close: () => {} });
    eventLog.detail("first");
    eventLog.writeTo(folder);
    eventLog.detail("second");
    for (const name of ["benchmark.log", "full_benchmark.log"])
      expect(readFileSync(join(folder, name), "utf8")).toMatch(/^\S+Z first\n\S+Z second\n$/);
  });

  test("that cannot be written is reported once and ends nothing", () => {
    const told: string[] = [];
    const err = vi
      .spyOn(process.stderr, "write")
      .mockImplementation((text) => told.push(String(text)) > 0);
    const append = lineLog(join(newFolder(), "missing", "benchmark.log"));
    append("one");
    append("two");
    err.mockRestore();
    expect(told).toHaveLength(1);
    expect(told[0]).toContain("cannot be written");
  });
});
