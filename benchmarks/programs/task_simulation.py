"""Compute: an operating system's tasks in miniature, after Richards; many small method calls."""

import math
from collections import deque

from parts import run_parts

ROUNDS = 130
PACKETS = 400


class Packet:
    """A message with a few bytes of data, passed from task to task."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.data = [number % 7, number % 11, number % 13, number % 17]
        self.stops = 0


class Task:
    """Something that can be run while it is ready."""

    def __init__(self, name: str, priority: int) -> None:
        self.name = name
        self.priority = priority
        self.inbox: deque[Packet] = deque()
        self.is_held = False
        self.ticks = 0
        self.runs = 0

    def is_ready(self) -> bool:
        """Whether running would do anything."""
        return bool(self.inbox) and not self.is_held

    def run(self, kernel: "Kernel") -> None:
        """Handle one packet."""
        self.runs += 1
        packet = self.inbox.popleft()
        packet.stops += 1
        self.handle(packet, kernel)

    def handle(self, packet: Packet, kernel: "Kernel") -> None:
        """What this kind of task does with a packet."""
        raise NotImplementedError


class Device(Task):
    """Gives packets back after holding still for a while."""

    def handle(self, packet: Packet, kernel: "Kernel") -> None:
        kernel.hold(self, packet.number % 3 + 1)
        if packet.stops < 12:
            kernel.send("worker", packet)
        else:
            kernel.send("sink", packet)


class Worker(Task):
    """Changes the data, and passes on by its value."""

    def handle(self, packet: Packet, kernel: "Kernel") -> None:
        total = 0
        for place in range(len(packet.data)):
            packet.data[place] = self.mix(packet.data[place], place)
            total += packet.data[place]
        kernel.send("disk" if total % 2 else "line", packet)

    def mix(self, value: int, place: int) -> int:
        """One step of a small generator."""
        return (value * 31 + place * 7 + 3) % 257


class Sink(Task):
    """Adds up what arrives."""

    total = 0

    def handle(self, packet: Packet, kernel: "Kernel") -> None:
        self.total += sum(packet.data)
        kernel.left -= 1


class Kernel:
    """Runs the ready task with the highest priority until no packet is left."""

    def __init__(self) -> None:
        self.sink = Sink("sink", 4)
        tasks = [Worker("worker", 1), Device("disk", 3), Device("line", 2), self.sink]
        self.tasks = {task.name: task for task in tasks}
        self.order = sorted(tasks, key=lambda task: -task.priority)
        self.held: list[Task] = []
        self.left = 0

    def send(self, name: str, packet: Packet) -> None:
        """Put a packet into a task's inbox."""
        self.tasks[name].inbox.append(packet)

    def hold(self, task: Task, ticks: int) -> None:
        """Keep a task from running for some ticks."""
        task.is_held = True
        task.ticks = ticks
        self.held.append(task)

    def tick(self) -> None:
        """Let time pass for held tasks."""
        for task in self.held[:]:
            if task.ticks <= 0:
                task.is_held = False
                self.held.remove(task)
            else:
                task.ticks -= 1

    def choose(self) -> Task | None:
        """The ready task with the highest priority."""
        for task in self.order:
            if task.is_ready():
                return task
        return None

    def run(self, packets: int) -> int:
        """Send packets to the worker and run until all have arrived."""
        self.left = packets
        for number in range(packets):
            self.send("worker", Packet(number))
        while self.left:
            task = self.choose()
            if task is not None:
                task.run(self)
            self.tick()
        return self.sink.total


def simulate(part: float) -> int:
    """A part of all rounds."""
    return sum(Kernel().run(PACKETS) for _ in range(math.ceil(ROUNDS * part)))


def main() -> None:
    """Run the simulation several times."""
    totals, watch = run_parts(simulate)
    print("total", sum(totals))
    watch.print()


main()
