"""Nothing goes wrong."""

import threading

numbers = []
threads = [threading.Thread(target=numbers.append, args=(each,)) for each in range(3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(sorted(numbers))
