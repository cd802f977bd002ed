"""numpy, used as it should be."""

import numpy

total = 0.0
for size in range(1, 200):
    square = numpy.arange(size * size, dtype=float).reshape(size, size)
    total += float((square @ square.T).trace()) + float(numpy.sort(square, axis=None)[::2].sum())
    total += len(numpy.array([str(n) for n in range(size)])) + square.astype("i4").tobytes().count(
        0
    )
assert total > 0
