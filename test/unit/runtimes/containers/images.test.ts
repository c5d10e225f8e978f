import { expect, test } from "vitest";
import { programImages } from "../../../../src/runtimes/containers/images.js";

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
  ];
  const found = await programImages(docker, { programs, onSetupStep: () => {} });
  expect([...found.keys()]).toEqual(["here", "gone", "bare"]);
  expect(found.get("here")).toMatchObject({ name: "here:1", id: "id" });
  expect(found.get("gone")).toMatch(/gone:1 cannot be pulled: no such image/);
  expect(found.get("bare")).toMatch(/--image bare=REF/);
  expect(pulled).toEqual(["gone:1"]);
});
