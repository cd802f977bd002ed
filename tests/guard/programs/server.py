"""A threaded server that loses a count now and then, and goes on; clients in the same process."""

import http.client
import http.server
import random
import sys
import threading
import time

import reenact

CLIENTS = 4


class Counter:
    def __init__(self):
        self.total = 0
        self.seen = 0


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1

    def do_GET(self):
        before = counter.total  # read
        if random.random() < 0.003:
            time.sleep(0.002)  # something slow, now and then
        counter.total = before + 1  # write
        with lock:
            counter.seen += 1
            if counter.total != counter.seen:
                counter.total = counter.seen
                reenact.rollback("a count was lost")
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    def log_message(self, *unused):
        pass


def ask(times):
    connection = http.client.HTTPConnection("127.0.0.1", server.server_address[1])
    for _ in range(times):
        connection.request("GET", "/")
        answer = connection.getresponse()
        assert answer.read() == b"ok"
        served.append(answer.status)
    connection.close()


random.seed(0)  # some are slow, and not too many
counter = Counter()
lock = threading.Lock()
served = []
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
clients = [threading.Thread(target=ask, args=(int(sys.argv[1]),)) for _ in range(CLIENTS)]
for client in clients:
    client.start()
for client in clients:
    client.join()
server.shutdown()
print("served", len(served))
