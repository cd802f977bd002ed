"""RPyC: the caller starts to read a reply that another thread has read, but not handed over yet.

The serving thread gives up the right to read, and only then dispatches what it read. The caller
comes in between, sees no result, and waits for bytes that will not come.
"""

import socket
import threading

import rpyc
from rpyc.utils.factory import connect_stream

PATIENT = {"sync_request_timeout": None}


class Calculator(rpyc.Service):
    def exposed_double(self, number: int) -> int:
        return 2 * number


def serve_until_closed(connection: rpyc.Connection) -> None:
    try:
        while True:
            connection.serve(None)
    except EOFError:
        pass


def main() -> None:
    here, there = socket.socketpair()
    server = connect_stream(rpyc.SocketStream(there), service=Calculator, config=PATIENT)
    client = connect_stream(rpyc.SocketStream(here), config=PATIENT)
    serving = threading.Thread(target=serve_until_closed, args=(server,), daemon=True)
    serving.start()
    calculator = client.root
    reading = threading.Thread(target=serve_until_closed, args=(client,), daemon=True)
    reading.start()
    assert calculator.double(21) == 42
    here.shutdown(socket.SHUT_RDWR)
    reading.join()
    serving.join()
    client.close()
    server.close()


if __name__ == "__main__":
    main()
