"""A server and its clients over loopback, in threads; connections refused.

Varies: port numbers, the order of connections and answers.
"""

import socket
import socketserver
import threading

answers = []
errors = []


class Handler(socketserver.StreamRequestHandler):
    def handle(self):
        for line in self.rfile:
            self.wfile.write(b"%d %s" % (self.client_address[1], line))


def ask(name):
    with socket.create_connection(server.server_address) as connection:
        for number in range(3):
            connection.sendall(b"%s%d\n" % (name, number))
            answers.append(connection.recv(100))
        answers.append((connection.getsockname(), connection.getpeername()))


with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
    serving = threading.Thread(target=server.serve_forever, args=(0.01,))
    serving.start()
    clients = [threading.Thread(target=ask, args=(name,)) for name in (b"a", b"b", b"c")]
    for client in clients:
        client.start()
    for client in clients:
        client.join()
    server.shutdown()
    serving.join()

address = server.server_address
try:
    socket.create_connection(address)
except ConnectionRefusedError as error:
    errors.append(str(error))
with socket.socket() as unconnected:
    errors.append(unconnected.connect_ex(address))
    try:
        unconnected.getpeername()
    except OSError as error:
        errors.append(str(error))
for answer in answers:
    print(answer)
print(address, errors)
