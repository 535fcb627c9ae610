r"""The readers by the name that the catalogue gives them.

A reader takes the folder of a source and the options of the catalogue, which its docstring names. It yields readings:
tables with the text of the source, and the rows that were left out because they are damaged. Text is split at `\n` only
and quotes have no special meaning, so that no row is lost or shifted; files that are CSV have its quoting, RFC 4180.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

from paraphrastic.base.errors import DataError, unknown_name
from paraphrastic.readers import (
    evaluation_sets,
    labelled,
    large_corpora,
    own_data,
    paraphrase_groups,
    paraphrase_pairs,
    sample,
    tagged,
)
from paraphrastic.readers.reading import PASS_ALL, PairFilter, ReaderOptions, Reading
from paraphrastic.sources.source import Source

Reader = Callable[[Path, ReaderOptions], Iterator[Reading]]


READERS: dict[str, Reader] = {
    "aligned": paraphrase_pairs.aligned,
    "banking": labelled.banking,
    "class-files": labelled.class_files,
    "columns": evaluation_sets.columns,
    "conllu": tagged.conllu,
    "keyed-groups": paraphrase_groups.keyed_groups,
    "labelled-tokens": paraphrase_pairs.labelled_tokens,
    "lexicon": paraphrase_pairs.lexicon,
    "onestop": paraphrase_pairs.onestop,
    "own-pairs": own_data.own_pairs,
    "own-set": own_data.own_set,
    "parabank": large_corpora.parabank,
    "pair-lists": paraphrase_groups.pair_lists,
    "parallel-groups": paraphrase_groups.parallel_groups,
    "paranmt": large_corpora.paranmt,
    "perspectrum": paraphrase_groups.perspectrum,
    "pit2015": evaluation_sets.pit2015,
    "ppdb": large_corpora.ppdb,
    "sample": sample.sample,
    "sentences": paraphrase_groups.sentences,
    "sick": evaluation_sets.sick,
    "sick-archive": evaluation_sets.sick_archive,
    "simpwiki": paraphrase_pairs.simpwiki,
    "snips": labelled.snips,
    "sts-archive": evaluation_sets.sts_archive,
    "sts-files": evaluation_sets.sts_files,
    "sts-tsv": evaluation_sets.sts_tsv,
    "tab-pairs": large_corpora.tab_pairs,
    "trec": labelled.trec,
    "trecqa": evaluation_sets.trecqa,
    "treebank": tagged.treebank,
    "treebank-tagged": tagged.treebank_tagged,
    "wikiqa-corpus": evaluation_sets.wikiqa_corpus,
    "wikisplit": paraphrase_pairs.wikisplit,
    "word-list": paraphrase_groups.word_list,
}


def read(source: Source, folder: Path, wanted: PairFilter = PASS_ALL) -> Iterator[Reading]:
    """Yield the tables of a source.

    Args:
        source: an entry of the catalogue; names the reader and its options.
        folder: contains the files of the source at the paths that the catalogue states.
        wanted: limits of pairs, for sources that score them; others have all their pairs.

    Raises:
        DataError: the source has no tables, or a file is damaged, truncated, empty or of another format.
        SourceError: a file is missing or cannot be read.
    """
    if source.reader is None:
        raise DataError(f"source '{source.name}' has no tables to read; leave it out of corpus and benchmarks")
    if source.reader not in READERS:
        raise DataError(unknown_name("reader", source.reader, READERS) + f" (source '{source.name}')")
    yield from READERS[source.reader](folder, {**source.options, "filter": wanted})
