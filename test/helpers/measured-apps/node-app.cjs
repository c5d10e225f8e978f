// An HTTP server that listens at PORT. STATUS is its answer, and WORK the work of a request.
const http = require("node:http");

const status = Number(process.env.STATUS ?? 200);
const rounds = Number(process.env.WORK ?? 20_000);

function work() {
  let total = 0;
  for (let round = 0; round < rounds; round++) total += Math.sqrt(round);
  return total;
}

http
  .createServer((request, response) => {
    response.statusCode = request.url.startsWith("/items") ? status : 404;
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ total: work(), key: request.headers["x-api-key"] }));
  })
  .listen(Number(process.env.PORT), "127.0.0.1");
