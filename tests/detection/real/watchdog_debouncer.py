"""watchdog: an event that is handed to a debouncer which does not wait yet is never delivered.

EventDebouncer.run waits on its condition without a look at the events that are there already, so
that a notify before the wait is lost.
"""

import threading

from watchdog.events import FileModifiedEvent
from watchdog.utils.event_debouncer import EventDebouncer


def main() -> None:
    batches: list[int] = []
    delivered = threading.Event()

    def deliver(events: list[FileModifiedEvent]) -> None:
        batches.append(len(events))
        delivered.set()

    debouncer = EventDebouncer(0, deliver)
    debouncer.start()
    debouncer.handle_event(FileModifiedEvent("notes.txt"))
    delivered.wait()
    debouncer.stop()
    debouncer.join()
    assert batches[0] == 1


if __name__ == "__main__":
    main()
