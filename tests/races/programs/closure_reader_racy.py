"""The function that started a thread changes a variable that the thread reads."""

import threading


def main():
    level = 0

    def look():
        return level + 1  # at: read

    thread = threading.Thread(target=look)
    thread.start()
    level = 1  # at: write
    thread.join()
    return level


main()
