"""An aiohttp application: handlers that wait in the middle of a change, and an executor."""

from __future__ import annotations

import asyncio
import hashlib
import json
import sys

from aiohttp import web

stock = {f"item{number}": 0 for number in range(8)}
served: list[str] = []


async def show(request: web.Request) -> web.Response:
    name = request.match_info["name"]
    served.append(f"show {name}")
    return web.json_response({"name": name, "count": stock[name]})


async def change(request: web.Request) -> web.Response:
    name = request.match_info["name"]
    before = stock[name]
    delta = (await request.json())["delta"]
    loop = asyncio.get_running_loop()
    digest = await loop.run_in_executor(None, lambda: hashlib.sha256(name.encode()).hexdigest())
    stock[name] = before + delta
    served.append(f"change {name} {digest}")
    return web.json_response({"count": stock[name]})


async def leave(request: web.Request) -> web.Response:
    request.app["done"].set()
    return web.json_response({"served": len(served)})


async def main() -> None:
    app = web.Application()
    app["done"] = asyncio.Event()
    app.add_routes([web.get("/item/{name}", show), web.post("/item/{name}", change)])
    app.add_routes([web.post("/quit", leave)])
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", int(sys.argv[1])).start()
    print("serving", flush=True)
    await app["done"].wait()
    await runner.cleanup()
    print(f"{len(served)} requests, {sum(stock.values())} in stock")
    print("state", hashlib.sha256(json.dumps([stock, served]).encode()).hexdigest())


asyncio.run(main())
