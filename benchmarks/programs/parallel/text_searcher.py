"""Searching: the best documents for each of many questions.

After lusearch of DaCapo: an index that all threads read and nobody writes, questions in one list
that is dealt out to them, answers in another; how much was found is counted under a lock.
"""

import threading
from array import array
from collections import Counter
from heapq import nlargest
from math import log

from corpus import documents, queries, tokens
from team import at_least, start

DOCUMENTS = 700
LENGTH = 150
QUERIES = 6_000
BEST = 10


class Index:
    """For each word the documents that have it and how often, in turn; and what a find is worth."""

    def __init__(self, texts: list[str]) -> None:
        self.postings: dict[str, array[int]] = {}
        for number, text in enumerate(texts):
            for word, count in Counter(tokens(text)).items():
                self.postings.setdefault(word, array("l")).extend((number, count))
        self.worth = {
            word: log(1.0 + 2.0 * len(texts) / len(found)) for word, found in self.postings.items()
        }


class Statistics:
    """What all threads count together."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.questions = 0
        self.found = 0

    def add(self, found: int) -> None:
        """A question was answered."""
        with self.lock:
            self.questions += 1
            self.found += found


def search(index: Index, words: tuple[str, ...]) -> tuple[list[tuple[float, int]], int]:
    """The best documents with their scores, and how many there were."""
    scores: dict[int, float] = {}
    for word in words:
        postings = index.postings.get(word)
        if postings is None:
            continue
        worth = index.worth[word] + 0.0
        listed = postings.tolist()
        for place in range(0, len(listed), 2):
            document, count = listed[place], listed[place + 1]
            score = worth * count / (count + 1.2)
            scores[document] = scores.get(document, 0.0) + score
    return nlargest(BEST, ((score, -document) for document, score in scores.items())), len(scores)


def main() -> None:
    """Answer all questions."""
    team, scale = start()
    index = Index(documents(DOCUMENTS, LENGTH))
    asked = queries(at_least(4, QUERIES * scale))
    answers: list[list[tuple[float, int]] | None] = [None] * len(asked)
    statistics = Statistics()

    def work(number: int) -> None:
        for i in team.turns(number, len(asked)):
            answers[i], found = search(index, asked[i])
            statistics.add(found)

    team.run(work)
    team.finish((answers, statistics.questions, statistics.found))


main()
