"""Black-Scholes: the worth of many options, by a formula.

After blackscholes of PARSEC: lists of what is known of each option, and of the prices; each
thread has the options of one piece, and goes over them several times.
"""

from math import exp, log, sqrt
from random import Random

from team import at_least, start

OPTIONS = 20_000
RUNS = 20


class Portfolio:
    """What the threads share: the options, one entry in each list, and their prices."""

    def __init__(self, size: int) -> None:
        random = Random(5)
        self.spot = [random.uniform(20.0, 120.0) for _ in range(size)]
        self.strike = [random.uniform(20.0, 120.0) for _ in range(size)]
        self.rate = [random.uniform(0.01, 0.1) for _ in range(size)]
        self.volatility = [random.uniform(0.05, 0.6) for _ in range(size)]
        self.years = [random.uniform(0.1, 2.0) for _ in range(size)]
        self.is_put = [random.random() < 0.5 for _ in range(size)]
        self.prices = [0.0] * size


def normal(x: float) -> float:
    """How likely a normal variable is to be below x, by a polynomial."""
    size = -x if x < 0.0 else x
    k = 1.0 / (1.0 + 0.2316419 * size)
    tail = k * (
        0.31938153 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429)))
    )
    tail *= 0.3989422804014327 * exp(-0.5 * size * size)
    return tail if x < 0.0 else 1.0 - tail


def price(
    spot: float, strike: float, rate: float, volatility: float, years: float, is_put: bool
) -> float:
    """The worth of a European option."""
    spread = volatility * sqrt(years)
    first = (log(spot / strike) + (rate + 0.5 * volatility * volatility) * years) / spread
    second = first - spread
    later = strike * exp(-rate * years)
    if is_put:
        return later * normal(-second) - spot * normal(-first)
    return spot * normal(first) - later * normal(second)


def main() -> None:
    """Price them all."""
    team, scale = start()
    shared = Portfolio(at_least(8, OPTIONS * scale))

    def work(number: int) -> None:
        for _ in range(RUNS):
            for i in team.share(number, len(shared.prices)):
                shared.prices[i] = price(
                    shared.spot[i],
                    shared.strike[i],
                    shared.rate[i],
                    shared.volatility[i],
                    shared.years[i],
                    shared.is_put[i],
                )

    team.run(work)
    team.finish(shared.prices)


main()
