"""A Flask application on its own threaded server: a shop whose counters nobody guards."""

from __future__ import annotations

import hashlib
import json
import sys
import threading
import uuid

from flask import Flask, g, jsonify, request
from werkzeug.serving import make_server

app = Flask(__name__)
stock = {f"item{number}": 0 for number in range(8)}
served: list[str] = []


@app.before_request
def name_request() -> None:
    g.number = uuid.uuid4().hex


@app.get("/item/<name>")
def show(name: str):
    served.append(f"show {name} {g.number}")
    return jsonify(name=name, count=stock[name], total=sum(stock.values()))


@app.post("/item/<name>")
def change(name: str):
    before = stock[name]
    for _ in range(3):
        served.append(f"change {name} {g.number}")
    stock[name] = before + request.get_json()["delta"]
    return jsonify(count=stock[name])


@app.post("/quit")
def leave():
    threading.Thread(target=server.shutdown).start()
    return jsonify(served=len(served))


server = make_server("127.0.0.1", int(sys.argv[1]), app, threaded=True)
print("serving", flush=True)
server.serve_forever()
server.server_close()
print(f"{len(served)} notes, {sum(stock.values())} in stock")
print("state", hashlib.sha256(json.dumps([stock, served]).encode()).hexdigest())
