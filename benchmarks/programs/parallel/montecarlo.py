"""Monte Carlo: the worth of an option, from many random ways that a price could go.

After montecarlo of Java Grande: a list of tasks that the threads share, each with a seed of its
own; the results go into one list, under a lock.
"""

import threading
from math import exp, sqrt
from random import Random

from team import at_least, start

PATHS = 9_000
STEPS = 120
SPOT, STRIKE, DRIFT, VOLATILITY = 100.0, 105.0, 0.03, 0.25


class Task:
    """One way to simulate."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.seed = 1_000_003 * number + 17


class Result:
    """What came out of a task."""

    def __init__(self, number: int, payoff: float, highest: float) -> None:
        self.number = number
        self.payoff = payoff
        self.highest = highest


def simulate(task: Task) -> Result:
    """A price's way for a year."""
    gauss = Random(task.seed).gauss
    step = 1.0 / STEPS
    drift = (DRIFT - VOLATILITY * VOLATILITY / 2.0) * step
    wobble = VOLATILITY * sqrt(step)
    logarithm = highest = 0.0
    for _ in range(STEPS):
        logarithm += drift + wobble * gauss(0.0, 1.0)
        if logarithm > highest:
            highest = logarithm
    payoff = max(0.0, SPOT * exp(logarithm) - STRIKE)
    return Result(task.number, payoff, SPOT * exp(highest))


def main() -> None:
    """Simulate all, and take the mean."""
    team, scale = start()
    tasks = [Task(number) for number in range(at_least(4, PATHS * scale))]
    results: list[Result] = []
    lock = threading.Lock()

    def work(number: int) -> None:
        for index in team.turns(number, len(tasks)):
            result = simulate(tasks[index])
            with lock:
                results.append(result)

    team.run(work)
    results.sort(key=lambda result: result.number)
    total = 0.0
    for result in results:
        total += result.payoff
    team.finish((exp(-DRIFT) * total / len(results), [result.highest for result in results]))


main()
