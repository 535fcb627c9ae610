"""The server of examples/serve: vectors and errors in the form of OpenAI's API, and the files beside it."""

import base64
import re
import runpy
import tomllib

import numpy as np
import pytest

import paraphrastic
from tests.helpers.repository import ROOT, run_python
from tests.helpers.small_models import save_model

FOLDER = ROOT / "examples/serve"
TEXTS = ["The zipper is broken.", "My card was declined."]

pytest.importorskip("fastapi", reason="needs the extra `dev`")


def client(**options):
    from fastapi.testclient import TestClient

    return TestClient(runpy.run_path(str(FOLDER / "app.py"))["app"], **options)


@pytest.fixture(scope="module")
def server():
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("PARAPHRASTIC_MODEL", raising=False)
        return client(raise_server_exceptions=False)


def test_vectors_in_both_forms(server):
    body = {"input": TEXTS, "model": "small", "dimensions": 64, "user": "someone"}
    floats, coded = (
        server.post("/v1/embeddings", json=body | {"encoding_format": form}).json() for form in ("float", "base64")
    )
    vectors = [np.frombuffer(base64.b64decode(row["embedding"]), "<f4") for row in coded["data"]]
    expected = paraphrastic.load().encode(TEXTS, normalize_embeddings=True, truncate_dim=64)
    np.testing.assert_array_equal(vectors, expected)
    np.testing.assert_array_equal(np.float32([row["embedding"] for row in floats["data"]]), expected)
    assert [row["index"] for row in floats["data"]] == [0, 1]
    assert floats["usage"] == {"prompt_tokens": 8, "total_tokens": 8}
    assert (floats["object"], floats["model"]) == ("list", "small")


def test_one_text_has_all_dimensions(server):
    (row,) = server.post("/v1/embeddings", json={"input": TEXTS[0], "model": "small"}).json()["data"]
    assert len(row["embedding"]) == paraphrastic.load().dim
    assert np.linalg.norm(row["embedding"]) == pytest.approx(1)


def test_text_of_which_nothing_is_known_has_the_vector_zero(server):
    (row,) = server.post("/v1/embeddings", json={"input": "ქართული", "model": "small"}).json()["data"]
    assert not any(row["embedding"])


@pytest.mark.parametrize(
    ("changes", "status", "words"),
    [
        ({"input": ""}, 400, "body.input.0"),
        ({"input": []}, 400, "body.input"),
        ({"input": [[1, 2]]}, 400, "body.input.0.*string"),  # tokens of OpenAI
        ({"input": ["text"] * 2049}, 400, "2048"),
        ({"input": "x" * (1 << 20)}, 413, "Content-Length.*1048576"),
        ({"dimensions": 257}, 400, "body.dimensions.*256"),
        ({"dimensions": 0}, 400, "body.dimensions"),
        ({"encoding_format": "int8"}, 400, "body.encoding_format.*base64"),
        ({"dimension": 8}, 400, r"body.dimension\b"),
        ({"model": "text-embedding-3-small"}, 404, "'small'"),
    ],
)
def test_refused_request(server, changes, status, words):
    answer = server.post("/v1/embeddings", json={"input": "A text.", "model": "small"} | changes)
    assert answer.status_code == status
    error = answer.json()["error"]
    assert error.keys() == {"message", "type", "param", "code"}
    assert re.search(words, error["message"])
    assert "\n" not in error["message"]


@pytest.mark.parametrize(
    ("content", "status"),
    [(b"{", 400), (b'{"input": "\\ud800", "model": "small"}', 400), (b"\xff\xfe", 400), (iter([b"{}"]), 413)],
)
def test_body_that_is_no_request(server, content, status):
    answer = server.post("/v1/embeddings", content=content, headers={"Content-Type": "application/json"})
    assert answer.status_code == status
    assert answer.json()["error"]["message"]


def test_what_is_served(server):
    assert [model["id"] for model in server.get("/v1/models").json()["data"]] == ["small"]
    assert server.get("/health").json()["status"] == "ok"
    assert server.get("/v2").json()["error"]["message"] == "Not Found"


def test_encoder_of_a_folder(tmp_path, monkeypatch):
    save_model(tmp_path / "reviews", "vectors")
    monkeypatch.setenv("PARAPHRASTIC_MODEL", str(tmp_path / "reviews"))
    assert client().get("/v1/models").json()["data"][0]["id"] == "reviews"


@pytest.mark.parametrize(("name", "words"), [("missing", "no model here"), ("overlap", "no sentence vectors")])
def test_folder_that_cannot_be_served(tmp_path, monkeypatch, name, words):
    save_model(tmp_path / "overlap", "overlap")
    monkeypatch.setenv("PARAPHRASTIC_MODEL", str(tmp_path / name))
    with pytest.raises(SystemExit, match=f"^error: .*{words}"):
        client()


def test_image_installs_the_base_package_and_what_the_tests_have():
    dockerfile = (FOLDER / "Dockerfile").read_text()
    copied = [name for line in re.findall("^COPY (.*) ", dockerfile, re.M) for name in line.split()]
    assert all((ROOT / name).exists() for name in copied)
    assert re.search(r"^FROM python:3\.\d+\.\d+-slim-\w+$", dockerfile, re.M)
    (installed,) = re.findall("pip install .* /source (.*)", dockerfile)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert set(re.findall("'(.*?)'", installed)) <= set(project["project"]["optional-dependencies"]["dev"])
    needed = {project["project"]["readme"], *project["project"]["license-files"], "pyproject.toml", "src"}
    assert needed | set(project["tool"]["setuptools"]["data-files"]["share/paraphrastic"]) < set(copied)


@pytest.mark.slow
def test_load():
    pytest.importorskip("uvicorn", reason="needs the extra `dev`")
    done = run_python(FOLDER / "load.py", "--clients", "2", "--seconds", "1", check=True)
    assert re.search(r"^2 clients, 1 texts: [\d,]+ requests/s, .* p99 [\d.]+ ms, \d+ MB$", done.stdout)
