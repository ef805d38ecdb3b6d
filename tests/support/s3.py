"""A real S3 server on loopback, its buckets in memory, and a gate in front that can be shut."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

BUCKET = "archive"
KEYS = {"AWS_ACCESS_KEY_ID": "testing-key-id", "AWS_SECRET_ACCESS_KEY": "testing-secret-key"}
_START_S = 30.0
_CHUNK = 1 << 16
_EVERYTHING = {
    "Version": "2012-10-17",
    "Statement": [{"Effect": "Allow", "Action": "*", "Resource": "*"}],
}


def free_port() -> int:
    """Return a port of 127.0.0.1 that nothing listens at."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])


class S3Server:
    """A moto process from ``start`` to ``stop``; each start begins with no bucket."""

    def __init__(self, folder: Path) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._log = folder / "s3.log"
        self._process: subprocess.Popen[bytes] | None = None
        self._clients: dict[str, Any] = {}

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        """Start the server and wait until it answers."""
        command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(self.port)]
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=os.environ | KEYS
            )
        until = time.monotonic() + _START_S
        while not self._answers():
            assert self._process.poll() is None, self._log.read_text()
            assert time.monotonic() < until, f"no S3 server after {_START_S:g} s"
            time.sleep(0.05)

    def stop(self) -> None:
        """Kill the server, with all that it holds."""
        for client in self._clients.values():
            client.close()
        self._clients.clear()
        assert self._process is not None
        self._process.kill()
        self._process.wait()

    def reset(self) -> None:
        """Forget all buckets and users; anybody may do anything again."""
        self.post("/moto-api/reset")
        self.post("/moto-api/reset-auth", b"1000000000")

    def log(self) -> list[str]:
        """Return the lines of requests so far."""
        return self._log.read_text(errors="replace").splitlines()

    def post(self, path: str, data: bytes = b"") -> None:
        """Tell the server something."""
        request = urllib.request.Request(self.url + path, data, {"Content-Type": "text/plain"})
        with urllib.request.urlopen(request, timeout=30) as answer:
            answer.read()

    def client(self, service: str = "s3") -> Any:
        """Return a client of Amazon's own library, to judge by; made once, for it takes a while."""
        import boto3

        if service not in self._clients:
            self._clients[service] = boto3.client(
                service,
                endpoint_url=self.url,
                region_name="us-east-1",
                aws_access_key_id="judge",
                aws_secret_access_key="judge",
            )
        return self._clients[service]

    def make_bucket(self, bucket: str = BUCKET) -> None:
        """Make a bucket."""
        self.client().create_bucket(Bucket=bucket)

    def objects(self, bucket: str = BUCKET) -> dict[str, bytes]:
        """Return all objects of a bucket, whole."""
        s3 = self.client()
        found = s3.list_objects_v2(Bucket=bucket).get("Contents", ())
        names = [one["Key"] for one in found]
        return {n: s3.get_object(Bucket=bucket, Key=n)["Body"].read() for n in names}

    def remains(self, bucket: str = BUCKET) -> list[str]:
        """Return the names of uploads that were begun and not finished."""
        found = self.client().list_multipart_uploads(Bucket=bucket).get("Uploads", ())
        return [one["Key"] for one in found]

    def require_keys(self) -> dict[str, str]:
        """From now on serve a new user only; return what the environment of that user has."""
        iam = self.client("iam")
        iam.create_user(UserName="crawler")
        policy = json.dumps(_EVERYTHING)
        iam.put_user_policy(UserName="crawler", PolicyName="all", PolicyDocument=policy)
        key = iam.create_access_key(UserName="crawler")["AccessKey"]
        self.post("/moto-api/reset-auth", b"0")
        return {
            "AWS_ACCESS_KEY_ID": key["AccessKeyId"],
            "AWS_SECRET_ACCESS_KEY": key["SecretAccessKey"],
        }

    def _answers(self) -> bool:
        with contextlib.suppress(OSError):
            self.post("/moto-api/reset")
            return True
        return False


class Gate:
    """A way through to a port, which closes by itself after so many bytes.

    Shut, it resets what is under way and refuses what comes, as a host does whose service died.
    Holding, it keeps connections and lets nothing more through.
    """

    def __init__(self, to: int) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.reached = threading.Event()
        """Set when as many bytes came as are let through."""
        self._to = to
        self._left = 0
        self._hold = False
        self._released = threading.Event()
        self._listener: socket.socket | None = None
        self._open: list[socket.socket] = []
        self._lock = threading.Lock()

    def open(self, nbytes: int = 1 << 60, *, hold: bool = False) -> None:
        """Let through so many bytes of requests, over all connections; then shut, or hold."""
        self._left, self._hold = nbytes, hold
        self.reached.clear()
        self._released.clear()
        self._listener = socket.create_server(("127.0.0.1", self.port))
        threading.Thread(target=self._accept, args=[self._listener], daemon=True).start()

    def shut(self) -> None:
        """Cut everything off; idempotent."""
        self._released.set()
        with self._lock:
            listener, self._listener = self._listener, None
            cut, self._open = self._open, []
        if listener is not None:
            with contextlib.suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)  # wakes the thread that accepts
            listener.close()
        for one in cut:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    def _accept(self, listener: socket.socket) -> None:
        while True:
            try:
                near, _ = listener.accept()
                far = socket.create_connection(("127.0.0.1", self._to))
            except OSError:
                return
            with self._lock:
                self._open += (near, far)
            for way in ((near, far, True), (far, near, False)):
                threading.Thread(target=self._pump, args=way, daemon=True).start()

    def _pump(self, source: socket.socket, target: socket.socket, counted: bool) -> None:
        with contextlib.suppress(OSError), contextlib.closing(source):
            while data := source.recv(_CHUNK):
                if counted and self._is_used_up(len(data)):
                    return
                target.sendall(data)
        with contextlib.suppress(OSError):
            target.shutdown(socket.SHUT_RDWR)

    def _is_used_up(self, nbytes: int) -> bool:
        with self._lock:
            self._left -= nbytes
            if self._left >= 0:
                return False
        self.reached.set()
        if self._hold:
            self._released.wait()
        else:
            self.shut()
        return True


@contextlib.contextmanager
def through(server: S3Server) -> Iterator[Gate]:
    """Yield an open gate to a server."""
    gate = Gate(server.port)
    gate.open()
    try:
        yield gate
    finally:
        gate.shut()
