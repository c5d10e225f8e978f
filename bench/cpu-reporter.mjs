// Preloaded into a server under comparison (`node --import`): tells its CPU time, and ends, when its parent asks.
process.on("message", (question) => {
  if (question === "cpu") process.send?.(process.cpuUsage());
});
process.on("disconnect", () => process.exit(0));
