"""Changes much memory all the time."""

table = [bytearray(4096) for _ in range(1000)]
for turn in range(30):
    for number, each in enumerate(table):
        each[turn] = (number + turn) % 256
    print(sum(each[turn] for each in table), flush=True)
