"""TLS over loopback between threads, with a certificate of our own; one client does not trust it.

Varies: port numbers, ciphertext, the order.
"""

import os
import socket
import ssl
import tempfile
import threading

CERTIFICATE = """\
-----BEGIN CERTIFICATE-----
MIIBljCCATugAwIBAgIUTAUNIS7G52O9ehQFBiLlSwnO0DswCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTExNjA1MjYyOVoYDzIxMjYxMDIz
MDUyNjI5WjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAATffjL+YHxJMHo6rLGgliVshQsM+VxY02em4aPidgDuM67EaZ79c6nc
tda7IjBMcpoGxtsA4ClDPycAdsmPs6wSo2kwZzAdBgNVHQ4EFgQUjgQ+gxBHdE4z
Sub2ia5c29sLqagwHwYDVR0jBBgwFoAUjgQ+gxBHdE4zSub2ia5c29sLqagwDwYD
VR0TAQH/BAUwAwEB/zAUBgNVHREEDTALgglsb2NhbGhvc3QwCgYIKoZIzj0EAwID
SQAwRgIhAPsVrXz7LKPzQogTqrZzarTx2o6tDHrIJ3hF1qhsB+uNAiEAviswG5tF
+vKJH2fppg8SKZLtMbPEc+QdG7UEggnKyNw=
-----END CERTIFICATE-----
"""
KEY = """\
-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgWqPCLjlyMheHqXgz
JzXvBr0xsrq397uPg9d7zGOm0yShRANCAATffjL+YHxJMHo6rLGgliVshQsM+VxY
02em4aPidgDuM67EaZ79c6nctda7IjBMcpoGxtsA4ClDPycAdsmPs6wS
-----END PRIVATE KEY-----
"""
NO_CHECK_TIME = 0x200000  # X509_V_FLAG_NO_CHECK_TIME
log = []

path = os.path.join(tempfile.mkdtemp(), "pem")
with open(path, "w") as file:
    file.write(CERTIFICATE + KEY)
ours = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
ours.load_cert_chain(path)
trusting = ssl.create_default_context(cadata=CERTIFICATE)
trusting.verify_flags |= NO_CHECK_TIME
distrusting = ssl.create_default_context()


def serve():
    for _ in range(3):
        connection, _ = listener.accept()
        try:
            with ours.wrap_socket(connection, server_side=True) as secured:
                secured.sendall(secured.recv(100).upper())
        except (ssl.SSLError, OSError) as error:
            log.append(("server", type(error).__name__))


def ask(name, context):
    try:
        with (
            socket.create_connection(address) as plain,
            context.wrap_socket(plain, server_hostname="localhost") as secured,
        ):
            secured.sendall(name.encode())
            subject = secured.getpeercert()["subject"]
            log.append((name, secured.recv(100), subject, secured.version(), secured.cipher()))
    except ssl.SSLError as error:
        log.append((name, type(error).__name__, str(error)))


listener = socket.create_server(("127.0.0.1", 0))
address = listener.getsockname()
threads = [threading.Thread(target=serve)]
for name, context in (("one", trusting), ("two", trusting), ("three", distrusting)):
    threads.append(threading.Thread(target=ask, args=(name, context)))
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
listener.close()
print(address)
for line in log:
    print(*line)
