"""The control: threads that share nothing. What two of them gain is what the machine gives."""

from team import at_least, start

TURNS = 12_000_000


def main() -> None:
    """Compute something, each thread by itself."""
    team, scale = start()
    turns = at_least(2, TURNS * scale)

    def work(number: int) -> None:
        x = 0.5
        for _ in team.share(number, turns):
            x = x * 1.5 - x * x

    team.run(work)
    team.finish(turns)


main()
