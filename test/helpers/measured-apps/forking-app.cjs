// The server is a child in a process group of its own, so that the leader does no work at all.
const { spawn } = require("node:child_process");
const path = require("node:path");

spawn(process.execPath, [path.join(__dirname, "node-app.cjs")], {
  stdio: "inherit",
  detached: true,
});
setInterval(() => {}, 60_000);
