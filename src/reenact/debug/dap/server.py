"""A session with an editor: on two streams, on standard input and output, or on a port.

Requests are read in a thread of their own, so that one that is to end a long move is seen while the
move goes on. Whatever ends the session, all processes of the replay end with it.
"""

from __future__ import annotations

import os
import socket
import sys
import threading
from io import RawIOBase
from queue import SimpleQueue
from typing import BinaryIO

from reenact.debug.dap.adapter import Adapter
from reenact.debug.dap.messages import BadFrame, Document, Sender, read

MALFORMED = 2
LOCAL = "127.0.0.1"


def serve(recording_path: str | None, reader: RawIOBase | BinaryIO, writer: BinaryIO) -> int:
    """Until the editor disconnects or is gone. The path is for a launch that names none."""
    path = None if recording_path is None else os.path.abspath(recording_path)
    adapter = Adapter(path, Sender(writer))
    requests: SimpleQueue[Document | BadFrame | None] = SimpleQueue()
    threading.Thread(target=_read_all, args=(reader, adapter, requests), daemon=True).start()
    try:
        while not adapter.is_over:
            request = requests.get()
            if request is None:
                break
            if isinstance(request, BadFrame):
                print(f"reenact: {request}", file=sys.stderr, flush=True)
                return MALFORMED
            adapter.handle(request)
    except (BrokenPipeError, ConnectionError):
        pass  # nobody is there to be told
    finally:
        adapter.close()
    return 0


def _read_all(
    reader: RawIOBase | BinaryIO,
    adapter: Adapter,
    requests: SimpleQueue[Document | BadFrame | None],
) -> None:
    last: BadFrame | None = None
    try:
        while (request := read(reader)) is not None:
            adapter.notice(str(request.get("command")))
            requests.put(request)
    except BadFrame as error:
        last = error
    except (OSError, ValueError):
        pass  # the stream was closed
    adapter.notice("disconnect")
    requests.put(last)


def serve_here(recording_path: str | None) -> int:
    """On standard input and output. What else is printed goes to standard error."""
    # Without a buffer, which could not be closed while the other thread waits in it.
    with (
        os.fdopen(os.dup(0), "rb", buffering=0) as reader,
        os.fdopen(os.dup(1), "wb") as writer,
    ):
        os.dup2(2, 1)
        return serve(recording_path, reader, writer)


def serve_port(recording_path: str | None, port: int) -> int:
    """For one editor that connects from this machine; 0 is any free port, which is said."""
    with socket.create_server((LOCAL, port)) as listening:
        number = listening.getsockname()[1]
        print(f"reenact: listening on {LOCAL}:{number}", file=sys.stderr, flush=True)
        connection, _ = listening.accept()
    with (
        connection,
        connection.makefile("rb", buffering=0) as reader,
        connection.makefile("wb") as writer,
    ):
        return serve(recording_path, reader, writer)
