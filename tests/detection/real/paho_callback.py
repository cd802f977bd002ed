"""paho-mqtt: a callback of the user is called with the client's own lock held.

The callback takes a lock of the program. The main thread holds that lock and sets another callback,
for which it needs the client's: both wait for ever.
"""

import socket
import threading

from paho.mqtt.client import Client

ACCEPTED = b"\x20\x02\x00\x00"


def main() -> None:
    listener = socket.create_server(("127.0.0.1", 0))
    peers: list[socket.socket] = []
    state_lock = threading.Lock()
    state: dict[str, bool] = {}
    connected = threading.Event()

    def accept() -> None:
        peer = listener.accept()[0]
        peers.append(peer)
        peer.recv(1024)
        peer.sendall(ACCEPTED)

    def on_connect(*_: object) -> None:
        with state_lock:
            state["connected"] = True
        connected.set()

    broker = threading.Thread(target=accept)
    broker.start()
    client = Client()
    client.on_connect = on_connect
    client.connect("127.0.0.1", listener.getsockname()[1])
    client.loop_start()
    with state_lock:
        state["configured"] = True
        client.on_message = lambda *_: None
    connected.wait()
    client.disconnect()
    client.loop_stop()
    broker.join()
    for place in (listener, *peers):
        place.close()
    assert len(state) == 2


if __name__ == "__main__":
    main()
