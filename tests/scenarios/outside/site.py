"""A web site to be crawled: pages that link to each other, slow ones among them.

    site.py PORT PAGES [CERTIFICATE KEY]

With a certificate it is served over TLS. Runs until it is killed.
"""

from __future__ import annotations

import random
import ssl
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

pages = int(sys.argv[2])


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        page = self.path.rpartition("/")[2] or "0"
        if not page.isdecimal():
            self.send_error(404)
            return
        time.sleep(random.random() / 200)
        self.answer(int(page))

    def answer(self, page: int) -> None:
        links = {(page * step + 1) % pages for step in (1, 3, 7)}
        text = "".join(f'<a href="/page/{link}">{link}</a>\n' for link in sorted(links))
        data = f"<h1>{page}</h1>{text}{random.random()}".encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Set-Cookie", f"visit={random.randrange(10**6)}")
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Nobody reads it."""


class Site(ThreadingHTTPServer):
    request_queue_size = 64
    daemon_threads = True

    def handle_error(self, *_: object) -> None:
        """A client that does not trust us hangs up: its own affair."""


def main() -> None:
    with Site(("127.0.0.1", int(sys.argv[1])), Handler) as server:
        if len(sys.argv) > 3:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(sys.argv[3], sys.argv[4])
            server.socket = context.wrap_socket(
                server.socket, server_side=True, do_handshake_on_connect=False
            )
        server.serve_forever()


main()
