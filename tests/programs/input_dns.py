"""Names and addresses of hosts, services and protocols; names that do not exist.

Varies: the order.
"""

import socket
import threading

seen = []
ways = {
    "local": lambda: socket.getaddrinfo("localhost", 80, type=socket.SOCK_STREAM),
    "numeric": lambda: socket.getaddrinfo("127.0.0.1", "http", proto=socket.IPPROTO_TCP),
    "by name": lambda: socket.gethostbyname("localhost"),
    "by name, more": lambda: socket.gethostbyname_ex("localhost"),
    "by address": lambda: socket.gethostbyaddr("127.0.0.1"),
    "backwards": lambda: socket.getnameinfo(("127.0.0.1", 80), 0),
    "service": lambda: socket.getservbyname("https"),
    "port": lambda: socket.getservbyport(22),
    "protocol": lambda: socket.getprotobyname("tcp"),
    "full name": socket.getfqdn,
    "nothing": lambda: socket.getaddrinfo("no such host.invalid", 80),
    "too long": lambda: socket.gethostbyname("x" * 70),
    "no service": lambda: socket.getservbyname("no such service"),
}


def look(names):
    for name in names:
        try:
            seen.append((name, ways[name]()))
        except (OSError, UnicodeError) as error:
            seen.append((name, type(error).__name__, str(error)))


names = list(ways)
threads = [threading.Thread(target=look, args=(names[part::3],)) for part in range(3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
for line in seen:
    print(*line)
