"""A threaded server with a rare race: a count is lost if a request takes longer than others.

    server.py ONE_IN

One request in so many is slow. Prints its port, serves until it is asked for /end, and prints how
many requests it has counted.
"""

import http.server
import random
import sys
import threading
import time

import reenact

ONE_IN = int(sys.argv[1])


class Counter:
    def __init__(self):
        self.total = 0
        self.served = 0


def count():
    before = counter.total  # read
    if random.randrange(ONE_IN) == 0:
        time.sleep(0.002)
    counter.total = before + 1  # write
    with lock:
        counter.served += 1
        total, counter.total = counter.total, counter.served
        assert total == counter.served, "a count was lost"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1

    def do_GET(self):
        status = 200
        try:
            if self.path == "/end":
                threading.Thread(target=server.shutdown).start()
            else:
                with reenact.guarded():
                    count()
        except AssertionError:
            status = 500
        self.send_response(status)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    def log_message(self, *unused):
        pass


counter = Counter()
lock = threading.Lock()
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
print("port", server.server_address[1], flush=True)
server.serve_forever()
print("served", counter.served)
