r"""One reader per file format: raw files → the few tables of `paraphrastic.tables`.

A reader takes the folder of a source and the options that the catalogue states, and yields readings: tables with
text as in the source, and the rows that were left out because they are damaged. Text is split at `\n` only, and
quotes mean nothing, so that no row is lost or shifted.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

from paraphrastic.errors import DataError, unknown_name
from paraphrastic.readers import labelled_data as labelled
from paraphrastic.readers import paraphrase_pairs as pairs
from paraphrastic.readers import ppdb, tagged
from paraphrastic.readers import scored_pairs as similarity
from paraphrastic.readers.lines import BadRow
from paraphrastic.readers.reading import Options, Reading
from paraphrastic.sample import tables
from paraphrastic.sources.catalogue import Source

__all__ = ["READERS", "BadRow", "Reading", "read"]

Reader = Callable[[Path, Options], Iterator[Reading]]


def _sample(folder: Path, options: Options) -> Iterator[Reading]:
    for kind, table in tables():
        yield Reading(kind, table)


READERS: dict[str, Reader] = {
    "aligned": pairs.aligned,
    "captions": pairs.captions,
    "conllu": tagged.conllu,
    "lexicon": pairs.lexicon,
    "msrp": labelled.msrp,
    "onestop": pairs.onestop,
    "pit2015": similarity.pit2015,
    "ppdb": ppdb.ppdb,
    "ppdb-judgements": similarity.ppdb_judgements,
    "references": pairs.references,
    "sample": _sample,
    "scored-tokens": pairs.scored_tokens,
    "sick": similarity.sick,
    "simpwiki": pairs.simpwiki,
    "sst": labelled.sst,
    "sts-archive": similarity.sts_archive,
    "sts-tsv": similarity.sts_tsv,
    "trecqa": labelled.trecqa,
    "treebank": tagged.treebank,
    "wikiqa": labelled.wikiqa,
    "wikisplit": pairs.wikisplit,
    "word-pairs": similarity.word_pairs,
}


def read(source: Source, folder: Path) -> Iterator[Reading]:
    """The tables of a source.

    Args:
        source: entry of the catalogue; names the reader and its options.
        folder: where the source's files are, at their paths below the source's address.

    Raises:
        DataError: the source has no tables, or a file is damaged, cut short, empty, or not what it should be.
        SourceError: a file is missing or cannot be read.
    """
    if source.reader is None:
        raise DataError(f"source '{source.name}' has no tables to read; leave it out of corpus and benchmarks")
    if source.reader not in READERS:
        raise DataError(unknown_name("reader", source.reader, READERS) + f" (source '{source.name}')")
    yield from READERS[source.reader](folder, source.options)
