"""An encoder with the /v1/embeddings that clients of OpenAI's API know: `uvicorn app:app`.

PARAPHRASTIC_MODEL names the folder of the encoder; without it, the encoder is the one of the package. The last part of
the path is its name in requests.
"""

import base64
import os
import sys
from typing import Annotated, Any, Literal

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, BeforeValidator, Field
from starlette.exceptions import HTTPException

import paraphrastic

MAX_TEXTS, MAX_BYTES = 2048, 1 << 20  # of a request
try:
    encoder = paraphrastic.load(os.environ.get("PARAPHRASTIC_MODEL") or None)
    encoder.encode("The first call compiles, which takes seconds.")
except paraphrastic.ParaphrasticError as error:
    sys.exit(f"error: {error}")
NAME = encoder.folder.resolve().name
Text = Annotated[str, Field(min_length=1)]
Texts = Annotated[list[Text], Field(min_length=1, max_length=MAX_TEXTS)]
app = FastAPI(title=NAME)


class Inputs(BaseModel, extra="forbid"):
    """The body of a request."""

    input: Annotated[Texts, BeforeValidator(lambda given: [given] if isinstance(given, str) else given)]
    model: str
    encoding_format: Literal["float", "base64"] = "float"
    dimensions: Annotated[int, Field(ge=1, le=encoder.dim)] | None = None
    user: str | None = None  # clients may send it; nothing reads it


@app.post("/v1/embeddings")
def embeddings(body: Inputs) -> JSONResponse:
    """Return a vector of length 1 for each text; zero if the encoder knows nothing of it."""
    if body.model != NAME:
        raise HTTPException(404, f"body.model: this server has one model, '{NAME}'")
    vectors = encoder.encode(body.input, normalize_embeddings=True, truncate_dim=body.dimensions)  # (n, dimensions)
    coded = (base64.b64encode(row.astype("<f4").tobytes()).decode() for row in vectors)
    rows = coded if body.encoding_format == "base64" else vectors.tolist()
    data = [{"object": "embedding", "index": n, "embedding": row} for n, row in enumerate(rows)]
    words = sum(len(text.split()) for text in body.input)
    usage = {"prompt_tokens": words, "total_tokens": words}
    return JSONResponse({"object": "list", "data": data, "model": NAME, "usage": usage})


@app.get("/v1/models")
def models() -> dict[str, Any]:
    """Return a list of the one model."""
    return {"object": "list", "data": [{"id": NAME, "object": "model", "created": 0, "owned_by": "paraphrastic"}]}


@app.get("/health")
def health() -> dict[str, str]:
    """Say that the model is loaded."""
    return {"status": "ok", "model": NAME}


@app.middleware("http")
async def bounded(request: Request, call_next: Any) -> Any:
    """Refuse a body that is too long, or that comes in chunks without a length, before it is read."""
    length = int(request.headers.get("content-length", 0))
    if length > MAX_BYTES or "transfer-encoding" in request.headers:
        return refusal(413, f"a body has a Content-Length of at most {MAX_BYTES}; divide the texts among requests")
    return await call_next(request)


@app.exception_handler(HTTPException)
@app.exception_handler(RequestValidationError)
async def refused(_: Request, error: HTTPException | RequestValidationError) -> JSONResponse:
    """Answer in one line that names the first field that is wrong."""
    if isinstance(error, HTTPException):
        return refusal(error.status_code, error.detail)
    first = error.errors()[0]
    return refusal(400, f"{'.'.join(map(str, first['loc']))}: {first['msg']}")


def refusal(status: int, message: str) -> JSONResponse:
    """Return an error in the form of OpenAI's API."""
    error = {"message": message, "type": "invalid_request_error", "param": None, "code": None}
    return JSONResponse({"error": error}, status)
