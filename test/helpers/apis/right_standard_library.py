"""A right API of Python's standard library: a fixed window from a key's first request."""

import math
import os
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

QUOTA = int(os.environ["QUOTA"])
WINDOW_S = float(os.environ["WINDOW_S"])

lock = threading.Lock()
#: By key the requests of its window, and when that ends.
windows: dict[str, tuple[int, float]] = {}


def counted(key: str) -> tuple[int, float]:
    """The requests of the key's window with this one, and the seconds until it ends."""
    with lock:
        now = time.monotonic()
        used, end = windows.get(key, (0, 0.0))
        if now >= end:
            used = 0
            end = now + WINDOW_S
        windows[key] = (used + 1, end)
    return used + 1, end - now


class Api(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Head and body of an answer are two segments, which Nagle's algorithm would delay.
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        if self.path.split("?")[0] != "/api/items":
            self.answer(404, b"")
            return
        used, left_s = counted(self.headers.get("X-Api-Key", ""))
        headers = {
            "X-RateLimit-Limit": str(QUOTA),
            "X-RateLimit-Remaining": str(max(0, QUOTA - used)),
            "X-RateLimit-Reset": str(math.ceil(left_s)),
        }
        if used <= QUOTA:
            self.answer(200, b'{"items": []}\n', headers)
        else:
            self.answer(
                429, b"too many requests\n", {**headers, "Retry-After": str(math.ceil(left_s))}
            )

    def answer(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: object) -> None:
        """An audit's requests are no news."""


class Server(ThreadingHTTPServer):
    # A burst opens many connections at once.
    request_queue_size = 256


Server(("127.0.0.1", int(os.environ["PORT"])), Api).serve_forever()
