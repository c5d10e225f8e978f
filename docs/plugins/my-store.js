/** @type {import("ratelimit-bench/plugin").Plugin} */
export default {
  stores: [
    {
      id: "my-store",
      engine: "resp",
      compatibleWith: "valkey",
      program: "valkey-server",
      image: { name: "valkey/valkey:8.1" },
      // Beside address, folder and topology. Persistence would cost CPU time; in containers the protected mode would
      // refuse the other parts.
      arguments: [
        "--save",
        "",
        "--appendonly",
        "no",
        "--protected-mode",
        "no",
        "--io-threads",
        "2",
      ],
      versionField: "valkey_version",
      decisionCommands: ["eval", "evalsha", "fcall"],
    },
  ],
};
