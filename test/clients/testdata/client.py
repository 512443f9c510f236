"""Makes attempts with http.client, and prints a line for each answer."""

import http.client
import sys

host, port = sys.argv[1].rsplit(":", 1)


def tell(name, answer):
    text = answer.read().decode()
    print(name, answer.status, answer.getheader("Content-Length"), repr(text))


one = http.client.HTTPConnection(host, int(port), timeout=20)
one.connect()
port_at_first = one.sock.getsockname()[1]


def ask(name, body=None, path="/attempt", method="POST", **fields):
    headers = {"X-Resource": "a"}
    headers.update({k.replace("_", "-"): v for k, v in fields.items()})
    one.request(method, path, body=body, headers=headers, encode_chunked="Transfer-Encoding" in headers)
    tell(name, one.getresponse())


ask("plain")
ask("body", body=b"hello")
ask("long body", body=b"b" * 65536)
ask("chunks", body=iter([b"hel", b"lo"]), Transfer_Encoding="chunked")
ask("latin", X_Method="caf\u00e9")
ask("rejected", X_Resource="rejected")
ask("empty", X_Resource="")
ask("hits", X_Hits="1.5")
ask("head", method="HEAD")
ask("get", method="GET")
ask("elsewhere", path="/")
ask("health", path="/healthz", method="GET")
print("one connection", one.sock.getsockname()[1] == port_at_first)
ask("too large", body=b"b" * 900000)
print("closed", one.sock is None)
ask("again")
