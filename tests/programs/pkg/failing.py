"""Fails when its body runs for the first and the second time."""

from pkg import order

order.note("failing")
attempt = sum(module == "failing" for module, _ in order.bodies)
if attempt <= 2:
    raise RuntimeError(f"try {attempt} fails")
