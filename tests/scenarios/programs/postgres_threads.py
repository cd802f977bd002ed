"""Threads that move money between rows of a PostgreSQL database, each with its own connection."""

from __future__ import annotations

import hashlib
import random
import sys
import threading

import psycopg2
from psycopg2 import errors

WORKERS = 5
TURNS = 12
source = sys.argv[1]
notes: list[str] = []


def transfer(connection, giver: int, taker: int, amount: int) -> bool:
    with connection, connection.cursor() as cursor:
        cursor.execute("SELECT balance FROM account WHERE id = %s FOR UPDATE", (giver,))
        (balance,) = cursor.fetchone()
        if balance < amount:
            return False
        change = "UPDATE account SET balance = balance + %s WHERE id = %s RETURNING balance"
        cursor.execute(change, (-amount, giver))
        cursor.execute(change, (amount, taker))
        notes.append(f"{giver} {taker} {cursor.fetchone()[0]}")
    return True


def work(number: int) -> None:
    connection = psycopg2.connect(source)
    for _ in range(TURNS):
        giver, taker = random.sample(range(4), 2)
        try:
            done = transfer(connection, giver, taker, random.randrange(1, 60))
            notes.append(f"{number} {'done' if done else 'refused'}")
        except errors.DeadlockDetected:
            notes.append(f"{number} deadlock")
    connection.close()


def prepare(connection) -> None:
    with connection, connection.cursor() as cursor:
        cursor.execute("CREATE TABLE account (id int PRIMARY KEY, balance int)")
        cursor.execute("INSERT INTO account SELECT n, 100 FROM generate_series(0, 3) n")


def main() -> None:
    connection = psycopg2.connect(source)
    prepare(connection)
    workers = [threading.Thread(target=work, args=(number,)) for number in range(WORKERS)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    with connection, connection.cursor() as cursor:
        cursor.execute("SELECT id, balance, now()::text FROM account ORDER BY id")
        rows = cursor.fetchall()
    connection.close()
    print(f"balances {[row[1] for row in rows]}, total {sum(row[1] for row in rows)}")
    print("state", hashlib.sha256(repr([rows, notes]).encode()).hexdigest())


main()
