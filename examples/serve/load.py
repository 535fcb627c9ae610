"""Start the server, ask it from several clients at once, and print requests/s, latency and resident memory.

`python load.py [--clients 8] [--texts 1] [--seconds 10]`; the encoder is that of PARAPHRASTIC_MODEL.
"""

import argparse
import json
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from http.client import HTTPConnection
from pathlib import Path
from statistics import quantiles

PORT = 8765
TEXT = "The zipper of the jacket that I ordered last week is broken, order {}."


def ask(connection: HTTPConnection, path: str, body: object = None) -> bytes:
    """Return an answer; exit if it is an error."""
    content = json.dumps(body)
    connection.request("POST" if body else "GET", path, content, {"Content-Type": "application/json"})
    answer = connection.getresponse()
    text = answer.read()
    if answer.status != 200:
        sys.exit(f"error: status {answer.status}: {text.decode()}")
    return text


def times_of(client: int, texts: int, end: float) -> list[float]:
    """Return the seconds of each request of one client, which sends the next one when it has an answer."""
    times, connection = [], HTTPConnection("127.0.0.1", PORT)
    name = json.loads(ask(connection, "/health"))["model"]
    lines = [TEXT.format(client * texts + n) for n in range(texts)]
    while (start := time.perf_counter()) < end:
        ask(connection, "/v1/embeddings", {"input": lines, "model": name, "encoding_format": "base64"})
        times.append(time.perf_counter() - start)
    return times


def wait(server: "subprocess.Popen[bytes]") -> None:
    """Return when the server answers; exit if it has ended."""
    while server.poll() is None:
        with suppress(OSError):
            ask(HTTPConnection("127.0.0.1", PORT), "/health")
            return
        time.sleep(0.1)
    sys.exit(f"error: the server ended with status {server.returncode}")


def main() -> None:
    """Print a line of figures."""
    parser = argparse.ArgumentParser(description="Measure the server on the loopback.")
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--texts", type=int, default=1, help="in a request")
    parser.add_argument("--seconds", type=float, default=10)
    given = parser.parse_args()
    command = [sys.executable, "-m", "uvicorn", "app:app", "--port", str(PORT), "--log-level", "warning"]
    with subprocess.Popen(command, cwd=Path(__file__).parent) as server:
        try:
            wait(server)
            end = time.perf_counter() + given.seconds
            with ThreadPoolExecutor(given.clients) as pool:
                clients = pool.map(lambda client: times_of(client, given.texts, end), range(given.clients))
                times = [each for client in clients for each in client]
            (memory,) = re.findall(r"VmRSS:\s+(\d+)", Path(f"/proc/{server.pid}/status").read_text())
        finally:
            server.terminate()
    if len(times) < 2:
        sys.exit("error: fewer than two requests have ended; raise --seconds")
    rate, cuts = len(times) / given.seconds, quantiles(times, n=100)
    counts = f"{given.clients} clients, {given.texts} texts: {rate:,.0f} requests/s, {rate * given.texts:,.0f} texts/s"
    print(f"{counts}, p50 {cuts[49] * 1000:.1f} ms, p99 {cuts[98] * 1000:.1f} ms, {int(memory) / 1024:.0f} MB")


if __name__ == "__main__":
    main()
