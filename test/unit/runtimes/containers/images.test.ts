import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { imageDigests } from "../../../../src/runtimes/containers/image-digests.js";
import { movedTag, programImages } from "../../../../src/runtimes/containers/images.js";
import { services } from "../../../../src/targets/services/index.js";
import { stores } from "../../../../src/targets/stores/index.js";
import { temporaryFolders } from "../../../helpers/folders.js";
import { ROOT } from "../../../helpers/programs.js";

/** An engine with one image, whose registry has none. */
function engine() {
  const pulled: string[] = [];
  const docker = {
    getImage: (name: string) => ({
      inspect: async () => {
        if (name === "here:1") return { Id: "id" };
        throw Object.assign(new Error("none"), { statusCode: 404 });
      },
    }),
    pull: async (name: string) => {
      pulled.push(name);
      throw new Error("no such image");
    },
  };
  return { docker: docker as never, pulled };
}

test("only images of the given programs are looked for; a missing one is a reason, not an error", async () => {
  const { docker, pulled } = engine();
  const programs = [
    { id: "here", command: "here-server", image: "here:1" },
    { id: "gone", command: "gone-server", image: "gone:1" },
    { id: "bare", command: "bare-server" },
    { id: "app.mine", command: "mine:1", image: "mine:1", isApp: true as const },
  ];
  const found = await programImages(docker, { programs, onSetupStep: () => {} });
  expect([...found.keys()]).toEqual(["here", "gone", "bare", "app.mine"]);
  expect(found.get("here")).toMatchObject({ name: "here:1", id: "id" });
  expect(found.get("gone")).toMatch(/gone:1 cannot be pulled: no such image/);
  expect(found.get("bare")).toMatch(/--image bare=REF/);
  expect(found.get("app.mine")).toMatch(/mine:1/);
  // Nobody knows who has published an image of a mistyped name.
  expect(pulled).toEqual(["gone:1"]);
});

describe("an image with a digest on the list", () => {
  const [pin, other] = [`sha256:${"1".repeat(64)}`, `sha256:${"2".repeat(64)}`];
  const name = "registry.example:5000/store:1";
  /**
   * What `programImages` says of it, and what it asks of an engine that has it with these digests,
   * or not at all.
   */
  async function found(listed: string | null | undefined, here: readonly string[] | undefined) {
    const asked: unknown[] = [];
    let digests = here?.map((digest) => `store@${digest}`);
    const docker = {
      getImage: (reference: string) => ({
        inspect: async () => {
          if (digests) return { Id: "id", RepoDigests: digests };
          throw Object.assign(new Error("none"), { statusCode: 404 });
        },
        tag: async (as: object) => void asked.push({ reference, ...as }),
      }),
      pull: async (reference: string) => {
        asked.push(reference);
        digests = [`store@${pin}`];
      },
      modem: { followProgress: (_progress: unknown, done: (error: null) => void) => done(null) },
    };
    const programs = [{ id: "store", command: "store-server", image: name }];
    const list = listed === undefined ? {} : { [name]: listed };
    const images = await programImages(docker as never, { programs, onSetupStep: () => {} }, list);
    const image = images.get("store");
    if (!image || typeof image === "string") throw new Error(image);
    return { image, asked, notes: movedTag(image, list).length };
  }

  test("is pulled by it, and gets its tag", async () => {
    const { image, asked, notes } = await found(pin, undefined);
    const reference = `registry.example:5000/store@${pin}`;
    expect(asked).toEqual([
      reference,
      { reference, repo: "registry.example:5000/store", tag: "1" },
    ]);
    expect({ image, notes }).toEqual({
      image: { name, id: "id", digest: pin, pinned: true },
      notes: 0,
    });
  });

  test.each([
    ["here with it among others", pin, [other, pin], { digest: pin, pinned: true }, 0],
    [
      "here with another one: it is used, with a note",
      pin,
      [other],
      { digest: other, pinned: false },
      1,
    ],
    ["loaded here, without any", pin, [], { pinned: false }, 0],
    ["listed without one", null, [other], { digest: other, pinned: false }, 0],
    ["not listed", undefined, [other], { digest: other }, 0],
  ] as const)("%s", async (_what, listed, here, identity, notes) => {
    expect(await found(listed, here)).toEqual({
      image: { name, id: "id", ...identity },
      asked: [],
      notes,
    });
  });

  test("without a digest it is pulled by its tag", async () => {
    expect((await found(null, undefined)).asked).toEqual([name]);
  });
});

test("the list names each image of a store or service", () => {
  const named = [...stores, ...services].flatMap(({ image }) => image?.name ?? []);
  expect(Object.keys(imageDigests).sort()).toEqual([...new Set(named)].sort());
});

describe("scripts/renew-image-digests.sh", () => {
  const newFolder = temporaryFolders();
  const renew = (dockerScript: string) => {
    const folder = newFolder();
    const list = join(folder, "list.ts");
    writeFileSync(join(folder, "docker"), `#!/bin/sh\n${dockerScript}\n`, { mode: 0o755 });
    const before = `{\n  "a:1": null,\n  "b/c:2": "sha256:${"1".repeat(64)}",\n};\n`;
    writeFileSync(list, before);
    const env = { PATH: `${folder}:${process.env.PATH}` };
    const script = join(ROOT, "scripts/renew-image-digests.sh");
    const { status, stdout, stderr } = spawnSync("bash", [script, list], { env, encoding: "utf8" });
    const after = readFileSync(list, "utf8");
    return { status, stdout, lines: stderr.split("\n").length - 1, before, after };
  };

  test("writes the digests, and names the tags that have moved", () => {
    const digest = `sha256:${"2".repeat(64)}`;
    const { status, stdout, after } = renew(`echo ${digest}`);
    expect(status).toBe(0);
    expect(after).toBe(`{\n  "a:1": "${digest}",\n  "b/c:2": "${digest}",\n};\n`);
    expect(stdout).toContain("b/c:2");
    expect(stdout).not.toContain("a:1");
  });

  test("leaves the list as it is where the registry does not answer for one of them", () => {
    const digest = `sha256:${"2".repeat(64)}`;
    const script = `case "$*" in *a:1) echo ${digest};; *) echo more; echo no answer >&2; exit 1;; esac`;
    const { status, lines, before, after } = renew(script);
    expect({ status, lines, after }).toEqual({ status: 3, lines: 1, after: before });
  });
});
