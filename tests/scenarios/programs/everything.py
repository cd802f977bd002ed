"""A script of the kind that grows: files in and out, the web, the date, chance, the machine."""

from __future__ import annotations

import csv
import getpass
import glob
import hashlib
import http.client
import json
import logging
import os
import platform
import random
import secrets
import shutil
import socket
import sys
import tempfile
import threading
import time
import urllib.request
import uuid
from datetime import UTC, datetime
from pathlib import Path

host, port = sys.argv[1], int(sys.argv[2])
logging.basicConfig(format="%(asctime)s %(process)d %(threadName)s %(message)s", level=logging.INFO)
found: dict[str, object] = {}


def read_inputs() -> None:
    found["settings"] = json.loads(Path("settings.json").read_text())
    with open("prices.csv", newline="") as file:
        found["prices"] = list(csv.DictReader(file))
    with open("data.bin", "rb") as file:
        file.seek(100)
        found["middle"] = file.read(50).hex()
        found["rest"] = hashlib.sha256(file.read()).hexdigest()
        found["size"] = os.fstat(file.fileno()).st_size
    found["lines"] = sum(1 for _ in open("long.txt", encoding="utf-8"))  # noqa: SIM115
    try:
        Path("missing.txt").read_text()
    except FileNotFoundError as error:
        found["missing"] = str(error)


def look_around() -> None:
    found["listdir"] = os.listdir(".")
    found["scandir"] = [(e.name, e.is_dir(), e.stat().st_mtime_ns) for e in os.scandir(".")]
    found["walk"] = list(os.walk("tree"))
    found["glob"] = [glob.glob("tree/**/*.txt", recursive=True), sorted(Path().rglob("*.csv"))]
    found["stat"] = os.stat("settings.json").st_ino, os.path.getmtime("prices.csv")
    found["exists"] = os.path.exists("data.bin"), os.path.isdir("tree"), os.path.islink("link")
    found["link"] = os.readlink("link"), os.path.realpath("link")
    found["access"] = os.access("settings.json", os.R_OK), shutil.disk_usage(".").free


def ask_the_web() -> None:
    with urllib.request.urlopen(f"http://{host}:{port}/page/1", timeout=20) as answer:
        found["urllib"] = answer.read().decode(), answer.headers["Date"]
    connection = http.client.HTTPConnection(host, port, timeout=20)
    for number in range(3):
        connection.request("GET", f"/page/{number}")
        found[f"http.client {number}"] = connection.getresponse().read().decode()
    found["sockname"] = connection.sock and connection.sock.getsockname()
    connection.close()


def take_chances() -> None:
    found["random"] = random.random(), random.choices("abc", k=5)
    found["system random"] = random.SystemRandom().randrange(10**9), secrets.token_hex(8)
    found["urandom"] = os.urandom(8).hex(), os.getrandom(8).hex()
    found["uuid"] = str(uuid.uuid4()), str(uuid.uuid1())


def read_clocks() -> None:
    found["now"] = str(datetime.now()), str(datetime.now(UTC)), datetime.now().timestamp()
    found["today"] = str(datetime.today().date()), time.localtime(), time.gmtime(), time.ctime()
    found["strftime"] = time.strftime("%c"), time.time(), time.monotonic_ns(), time.tzname
    found["clock_gettime"] = time.clock_gettime(time.CLOCK_REALTIME), time.process_time()
    found["times"] = os.times(), time.asctime()


def know_yourself() -> None:
    found["process"] = (
        os.getpid(),
        os.getppid(),
        os.getuid(),
        os.getcwd(),
        threading.get_native_id(),
    )
    found["environment"] = os.environ["TERM"], os.environ.get("HOME"), os.getenv("NOT_THERE")
    found["machine"] = socket.gethostname(), platform.node(), os.cpu_count(), os.getloadavg()
    found["uname"] = tuple(os.uname()), getpass.getuser(), sorted(os.sched_getaffinity(0))
    found["terminal"] = os.isatty(0), shutil.get_terminal_size(), sys.argv[0], sys.stdin.read()


def write_outputs() -> None:
    text = json.dumps(found, default=str, indent=1)
    Path("report.json").write_text(text)
    os.makedirs("out/deep", exist_ok=True)
    with open("out/deep/log.txt", "a") as file:
        print("finished", datetime.now(), file=file)
    os.replace("report.json", "out/report.json")
    with tempfile.TemporaryDirectory() as scratch, tempfile.NamedTemporaryFile("w+") as file:
        shutil.copy("out/report.json", scratch)
        file.write(text)
        file.seek(0)
        found["copied"] = os.listdir(scratch), file.name, len(file.read())
    found["written"] = hashlib.sha256(Path("out/report.json").read_bytes()).hexdigest()
    found["in out"] = sorted(os.listdir("out")), os.path.getsize("out/deep/log.txt")


PARTS = (read_inputs, look_around, ask_the_web, take_chances, read_clocks, know_yourself,
         write_outputs)  # fmt: skip


def state() -> str:
    return hashlib.sha256(json.dumps(found, default=str).encode()).hexdigest()


for part in PARTS:
    thread = threading.Thread(target=part, name=part.__name__)
    thread.start()
    thread.join()
    logging.info("%s: %d facts", part.__name__, len(found))
    print(part.__name__, state(), flush=True)
print("state", state())
