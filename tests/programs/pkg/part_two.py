"""One of three small modules."""

from pkg import order

order.note("part_two")
value = sum(number for number in range(30))
