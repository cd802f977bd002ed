# reenact-test: boundary=pkg.outside:*
"""Functions of the program's that a boundary calls from inside, with a lock and a race in them.

Varies: what the boundary says, who hears it first, and how many updates are lost.
"""

import threading

from pkg import outside

lock = threading.Lock()
heard = []
total = 0


def successor(value):
    return value + 1


def listener(line, question, answer):
    global total
    seen = total
    with lock:
        heard.append((line.name, question, answer))
    total = successor(seen)


def second_line(line, question, answer):
    if question == 2:
        heard.append((line.name, "asks again", other.ask(-1)))


def work(number):
    line = outside.connect(f"line {number}")
    line.listen(listener)
    line.listen(second_line)
    for question in range(4):
        try:
            line.ask(question)
        except outside.Refused as error:
            heard.append((error.caller, "refused", error.code, str(error)))


other = outside.connect("other")
threads = [threading.Thread(target=work, args=(number,)) for number in range(3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()

for entry in heard:
    print(*entry)
print("total", total)
