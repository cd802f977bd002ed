"""Forks more often than its recording has levels, while logging has handlers for forks."""

import logging
import os
import subprocess
import sys
import threading
import warnings

logging.basicConfig(stream=sys.stdout, format="%(threadName)s %(message)s")
warnings.simplefilter("ignore")  # from 3.12 on fork() warns, with the real number of the process
done = []


def work():
    for number in range(20):
        logging.warning("work %d", number)
        done.append(number)


thread = threading.Thread(target=work, name="worker")
thread.start()
for number in range(8):
    child = os.fork()
    if child == 0:
        os._exit(number)
    _, status = os.waitpid(child, 0)
    logging.warning("child ended with %d", os.waitstatus_to_exitcode(status))
said = subprocess.run([sys.executable, "-c", "print(6 * 7)"], capture_output=True, check=True)
thread.join()
print(said.stdout, len(done))
