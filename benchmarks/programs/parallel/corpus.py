"""Texts made up for the indexer and the searcher: words of no language, some of them often."""

from random import Random

WORDS = 4_000


def vocabulary() -> list[str]:
    """Words that differ."""
    random = Random(77)
    words: dict[str, None] = {}
    while len(words) < WORDS:
        words["".join(random.choices("aeioubcdfglmnprst", k=random.randrange(3, 9)))] = None
    return list(words)


def documents(count: int, length: int) -> list[str]:
    """Texts of about as many words each, with capitals, commas and full stops."""
    random = Random(78)
    words = vocabulary()
    weights = [1.0 / (rank + 2) for rank in range(len(words))]
    texts = []
    for _ in range(count):
        chosen = random.choices(words, weights, k=random.randrange(length // 2, length * 3 // 2))
        sentences = [chosen[place : place + 11] for place in range(0, len(chosen), 11)]
        texts.append(" ".join(", ".join(sentence).capitalize() + "." for sentence in sentences))
    return texts


def queries(count: int) -> list[tuple[str, ...]]:
    """What is asked for: one to four words."""
    random = Random(79)
    words = vocabulary()[: WORDS // 4]
    return [tuple(random.choices(words, k=random.randrange(1, 5))) for _ in range(count)]


def tokens(text: str) -> list[str]:
    """The words of a text, small and without marks."""
    return [word for word in (piece.strip(".,").lower() for piece in text.split()) if word]
