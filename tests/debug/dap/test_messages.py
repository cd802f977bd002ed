"""Messages as bytes."""

from __future__ import annotations

import io
import json

import pytest

from reenact.debug.dap.messages import LARGEST, BadFrame, Sender, read

from .client import framed


def test_messages_follow_each_other() -> None:
    documents = [{"seq": 1}, {"text": "grüße"}, {}]
    stream = io.BytesIO(b"".join(framed(json.dumps(each).encode()) for each in documents))
    assert [read(stream) for _ in range(4)] == [*documents, None]


def test_headers_of_any_case_and_of_other_kinds() -> None:
    data = b"Content-Type: application/json\r\ncontent-length:  2 \r\n\r\n{}"
    assert read(io.BytesIO(data)) == {}


@pytest.mark.parametrize(
    "data",
    [
        b"Content-Length: 5\r\n\r\n{}",
        b"Content-Length: 2",
        b"Content-Length: -2\r\n\r\n{}",
        b"Content-Length: %d\r\n\r\n{}" % (LARGEST + 1),
        b"Content-Length: 2\r\n\r\n\xff\xfe",
        b"\r\n\r\n{}",
        b"x" * 10_000,
        framed(b"[" * 100_000),
    ],
)
def test_what_is_no_message(data: bytes) -> None:
    with pytest.raises(BadFrame):
        read(io.BytesIO(data))


def test_what_is_sent_can_be_read() -> None:
    stream = io.BytesIO()
    sender = Sender(stream)
    sender.event("stopped", {"text": "süß"})
    sender.answer({"seq": 7, "command": "next"}, None)
    sender.refuse({"seq": 8, "command": "dance"}, "no {braces}")
    stream.seek(0)
    event, answer, refusal = [read(stream) or {} for _ in range(3)]
    assert event == {"seq": 1, "type": "event", "event": "stopped", "body": {"text": "süß"}}
    assert (answer["request_seq"], answer["success"]) == (7, True)
    assert (refusal["seq"], refusal["success"], refusal["message"]) == (3, False, "no {braces}")
