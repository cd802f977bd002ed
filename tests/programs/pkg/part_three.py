"""One of three small modules."""

from pkg import order

order.note("part_three")
value = sum(number for number in range(50))
