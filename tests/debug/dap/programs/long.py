"""A loop that takes a while to go through line by line."""

total = 0
for number in range(4_000_000):
    total += number
print(total)
