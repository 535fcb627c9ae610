"""Upload of a model by the client of the Hugging Face hub, to a server that answers as the hub does."""

import json
from base64 import b64decode
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import ClassVar

import pytest

import paraphrastic

constants = pytest.importorskip("huggingface_hub.constants")


class Hub(BaseHTTPRequestHandler):
    """Accepts every upload; files are part of the commit, as small ones are on the hub."""

    commits: ClassVar[list[list[dict]]] = []

    def do_GET(self):  # the client asks for what the server can do
        self._answer({})

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        assert self.headers["Authorization"] == "Bearer hf_token"
        if self.path == "/api/repos/create":
            assert {"name": "small", "organization": "me"}.items() <= json.loads(body).items()
            assert b"private" in body  # a value or, in earlier versions of the client, a key
            self._answer({"url": f"{constants.ENDPOINT}/me/small"})
        elif self.path == "/api/models/me/small/preupload/main":
            how = {"uploadMode": "regular", "shouldIgnore": False}
            self._answer({"files": [{"path": file["path"], **how} for file in json.loads(body)["files"]]})
        elif self.path == "/api/models/me/small/commit/main":
            self.commits.append([json.loads(line) for line in body.splitlines()])
            self._answer({"commitUrl": f"{constants.ENDPOINT}/me/small/commit/1", "commitOid": "1"})
        else:
            self._answer({"errors": [], "warnings": []})  # of the card

    def log_message(self, *arguments):
        """Write nothing."""

    def _answer(self, content, status=200):
        body = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@pytest.fixture
def commits(monkeypatch) -> Iterator[list[list[dict]]]:
    """The commits that a running server has got."""
    Hub.commits.clear()
    with ThreadingHTTPServer(("localhost", 0), Hub) as server:
        Thread(target=server.serve_forever).start()
        monkeypatch.setattr(constants, "ENDPOINT", f"http://localhost:{server.server_port}")
        yield Hub.commits
        server.shutdown()


def test_all_files_of_a_model_and_no_others_are_uploaded(commits, tmp_path):
    small = paraphrastic.load()
    small.save_pretrained(tmp_path / "small")
    (tmp_path / "small/.env").write_text("TOKEN=1")
    copy = paraphrastic.load(tmp_path / "small")
    assert copy.push_to_hub("me/small", private=True, token="hf_token") == f"{constants.ENDPOINT}/me/small/commit/1"
    ((header, *files),) = commits
    assert header["value"]["summary"] == "Upload of the model"
    uploaded = {file["value"]["path"]: b64decode(file["value"]["content"]) for file in files}
    assert uploaded == {file.name: file.read_bytes() for file in small.folder.iterdir()}
    assert "README.md" in uploaded
