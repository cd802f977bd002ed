"""The function that started a thread changes a variable that the thread read, having joined it."""

import threading


def main():
    level = 0

    def look():
        return level + 1

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    level = 1
    return level


main()
