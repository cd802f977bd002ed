"""Tasks are waited for, all together and then in the order in which they are done."""

from concurrent.futures import ThreadPoolExecutor, as_completed, wait

cells = [0] * 4


def worker(index):
    def work():
        cells[index] += 1
        return index

    return work


with ThreadPoolExecutor(2) as pool:
    wait([pool.submit(worker(index)) for index in range(4)])
    assert cells == [1] * 4
    for future in as_completed([pool.submit(worker(index)) for index in range(4)]):
        assert cells[future.result()] == 2
