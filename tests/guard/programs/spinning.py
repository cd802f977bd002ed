"""Threads that look again and again, and never wait: each turn must come to an end by itself."""

import threading

spoken = []


def speak(number):
    while len(spoken) < number:
        pass
    spoken.append(number)


threads = [threading.Thread(target=speak, args=(each,)) for each in (2, 1, 0)]
for thread in threads:
    thread.start()
while len(spoken) < len(threads):
    pass
print("all have spoken")
