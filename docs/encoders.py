"""Measure the quality, size and speed of small encoders in one run, and store the figures in docs/encoders.json.

    python -m docs.encoders --teacher FOLDER 'charagram with words|wide|data/model' …

It measures an encoder of sentence-transformers, model2vec's distillation of it, a StaticEmbedding of
sentence-transformers trained on the pairs of data/corpus, TF-IDF, and models of this package, each named by its label,
its data and its folder. It reads data/corpus and data/benchmarks of `benchmarks=open`. `python -m docs.tables` puts the
figures into README.md. It needs
`pip install -e '.[external]' 'model2vec[distill]' accelerate datasets`.

Speed is that of raw text to vectors on one thread, in a process of its own: the median over rounds in which the
encoders take turns. TF-IDF has no vectors; its speed is that of the similarity of each sentence and the next one.
"""

import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Annotated, Any, NamedTuple

import pyarrow.parquet as pq
import typer

from paraphrastic.analysis.comparison.formats import markdown_table
from paraphrastic.base.console import message, report_errors
from paraphrastic.base.errors import ParameterError
from paraphrastic.base.files import write_text
from tests.benchmarks.measuring import in_own_process

CORPUS, BENCHMARKS, STORED = Path("data/corpus"), Path("data/benchmarks"), Path(__file__).with_suffix(".json")
COLUMNS = {"STS 2012–2015": ("sts", "mean"), "STS 2016": ("sts", "2016"), "SICK": ("sick", "pearson")}
SENTENCES, SECONDS, CALLS = 20_000, 2.0, 3  # of a measurement: sentences at most, time of a call at least, calls
DIM, BATCH_SIZE, LEARNING_RATE = 300, 2048, 0.2  # of the StaticEmbedding; the latter two as its authors train it

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)


class Row(NamedTuple):
    """An encoder: its label, the data that it was trained on, its folder, and whether this package wrote it."""

    label: str
    data: str
    folder: str
    is_ours: bool


@app.command()
@report_errors("interrupted")
def run(
    models: Annotated[list[str], typer.Argument(metavar="LABEL|DATA|MODEL", help="Models of this package.")],
    teacher: Annotated[Path, typer.Option(help="Folder of an encoder of sentence-transformers.")],
    data: Annotated[str, typer.Option(help="What data/corpus holds.")] = "open, captions",
    rounds: Annotated[int, typer.Option(help="Measurements of speed of each encoder.")] = 5,
) -> None:
    """Measure all encoders and store the figures."""
    ours = [_row(argument) for argument in models]
    with TemporaryDirectory() as folder:
        rows = [Row(teacher.name, "its own", str(teacher), False), *_others(teacher, data, Path(folder)), *ours]
        quality = [in_own_process(measure_quality, row) for row in rows]
        speeds = [[in_own_process(measure_speed, row) for row in rows] for _ in range(rounds)]
        sizes = [_megabytes(Path(row.folder)) for row in rows]
    columns = zip(rows, quality, sizes, zip(*speeds, strict=True), strict=True)
    stored = [
        {
            "label": row.label,
            "data": row.data,
            **scores,
            "megabytes": size,
            "sentences per second": round(median(speed)),
        }
        for row, scores, size, speed in columns
    ]
    write_text(STORED, json.dumps(stored, indent=2, ensure_ascii=False) + "\n")


def table() -> str:
    """Return the table as Markdown; the ratio of speeds is to the first encoder."""
    stored = json.loads(STORED.read_text(encoding="utf-8"))
    header = ["encoder", "trained on", *COLUMNS, "MB", "sentences/s", "×"]
    rows = []
    for row in stored:
        figures, speed = [row[name] for name in (*COLUMNS, "megabytes")], row["sentences per second"]
        ratio = speed / stored[0]["sentences per second"]
        rows.append([row["label"], row["data"], *(f"{each:.1f}" for each in figures), f"{speed:,}", f"{ratio:,.0f}"])
    return markdown_table(header, rows, texts=2)


def _row(argument: str) -> Row:
    parts = argument.split("|")
    if len(parts) != 3 or not Path(parts[2], "config.json").is_file():
        raise ParameterError(f"{argument}: not a label, data and the folder of a model, separated by `|`")
    return Row(*parts, True)


def _others(teacher: Path, data: str, folder: Path) -> list[Row]:
    """Make the encoders to compare with, each in a process of its own."""
    message("TF-IDF, model2vec's distillation and a StaticEmbedding are made")
    in_own_process(fit_tfidf, folder / "tfidf")
    in_own_process(distill, teacher, folder / "model2vec")
    in_own_process(train_static_embedding, teacher, folder / "static")
    return [
        Row(f"model2vec's distillation of {teacher.name}", "words, distilled", str(folder / "model2vec"), False),
        Row("StaticEmbedding of sentence-transformers", data, str(folder / "static"), False),
        Row("TF-IDF of words", data, str(folder / "tfidf"), True),
    ]


def fit_tfidf(folder: Path) -> None:
    """Write TF-IDF of words."""
    from paraphrastic import models
    from paraphrastic.base.tables import StoredSentences
    from paraphrastic.inference.model import ModelInfo
    from paraphrastic.inference.model_folder import write_model

    config = models.config_class("tfidf-words")()
    model_class: Any = models.model_class("tfidf-words")
    scorer = model_class.fit(config, StoredSentences(CORPUS / "sentences.parquet"))
    write_model(scorer, ModelInfo("tfidf-words", config.model_dump()), folder)


def distill(teacher: Path, folder: Path) -> None:
    """Write model2vec's distillation, with its own defaults."""
    from model2vec.distill import distill as distilled

    distilled(str(teacher)).save_pretrained(str(folder))


def train_static_embedding(teacher: Path, folder: Path) -> None:
    """Write a StaticEmbedding with the teacher's tokenizer, trained for one epoch on the pairs as its authors do."""
    from datasets import Dataset
    from sentence_transformers import (
        SentenceTransformer,
        SentenceTransformerTrainer,
        SentenceTransformerTrainingArguments,
    )
    from sentence_transformers.sentence_transformer.losses import MultipleNegativesRankingLoss
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding

    sentences = pq.read_table(CORPUS / "sentences.parquet")["text"]
    pairs = pq.read_table(CORPUS / "pairs.parquet")
    sides = {
        name: sentences.take(pairs[side]).to_pylist() for name, side in (("anchor", "left"), ("positive", "right"))
    }
    tokenizer = SentenceTransformer(str(teacher), device="cpu").tokenizer
    model = SentenceTransformer(modules=[StaticEmbedding(tokenizer, embedding_dim=DIM)], device="cpu")
    arguments = SentenceTransformerTrainingArguments(
        output_dir=str(folder.with_suffix(".runs")),
        num_train_epochs=1,
        per_device_train_batch_size=BATCH_SIZE,
        learning_rate=LEARNING_RATE,
        warmup_steps=0.1,
        save_strategy="no",
        report_to="none",
        use_cpu=True,
        seed=1,
    )
    loss = MultipleNegativesRankingLoss(model)
    SentenceTransformerTrainer(model, arguments, train_dataset=Dataset.from_dict(sides), loss=loss).train()
    model.save_pretrained(str(folder))


def measure_quality(row: Row) -> dict[str, float]:
    """Return the columns of the table of results for an encoder."""
    from paraphrastic.evaluation import Benchmarks, evaluate
    from paraphrastic.inference.model_folder import load_scorer
    from paraphrastic.scoring.external_encoder import ExternalEncoder

    scorer = load_scorer(Path(row.folder)) if row.is_ours else ExternalEncoder(Path(row.folder), 64, "cpu")
    metrics = evaluate(Benchmarks.load(BENCHMARKS), scorer).metrics
    return {name: metrics[section][key] for name, (section, key) in COLUMNS.items()}


def measure_speed(row: Row) -> float:
    """Return sentences per second of the fastest of several calls on one thread."""
    os.environ |= {f"{name}_NUM_THREADS": "1" for name in ("RAYON", "OMP", "NUMBA")}
    import pyarrow as pa
    import torch

    torch.set_num_threads(1)
    pa.set_cpu_count(1)
    texts = pq.read_table(BENCHMARKS / "sentences.parquet")["text"].slice(0, SENTENCES).to_pylist()
    encode = _encode(row)
    encode(texts[:64])  # compiles
    count = min(SENTENCES, max(64, round(_speed(encode, texts[:64]) * SECONDS)))
    return max(_speed(encode, texts[:count]) for _ in range(CALLS))


def _speed(encode: Callable[[list[str]], Any], texts: list[str]) -> float:
    start = perf_counter()
    encode(texts)
    return len(texts) / (perf_counter() - start)


def _encode(row: Row) -> Callable[[list[str]], Any]:
    if row.is_ours:
        import paraphrastic

        model = paraphrastic.load(row.folder)
        if row.label.startswith("TF-IDF"):
            return lambda texts: model.similarity_pairwise(texts[:-1:2], texts[1::2])
        return lambda texts: model.encode(texts, show_progress_bar=False)
    if Path(row.folder, "modules.json").is_file():
        from sentence_transformers import SentenceTransformer

        encoder = SentenceTransformer(row.folder, device="cpu")
        return lambda texts: encoder.encode(texts, show_progress_bar=False)
    from model2vec import StaticModel

    static = StaticModel.from_pretrained(row.folder)
    return lambda texts: static.encode(texts, use_multiprocessing=False)


def _megabytes(folder: Path) -> float:
    """Return the size of an encoder's files that are not documentation."""
    files: Sequence[Path] = [path for path in folder.rglob("*") if path.is_file() and path.suffix != ".md"]
    return sum(path.stat().st_size for path in files) / 1e6


if __name__ == "__main__":
    app()
