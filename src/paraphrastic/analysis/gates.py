"""Gate norms of GRAN by part-of-speech tag and dependency relation: acl2017 §5.2, Tables 9, 10 and 11."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from paraphrastic.analysis.artifacts import Artifacts
from paraphrastic.analysis.explain import gated_words
from paraphrastic.base.errors import DataError, ModelError
from paraphrastic.base.tables import indexed_schema
from paraphrastic.models.gran import Gran
from paraphrastic.scoring.neural import TrainedEncoder
from paraphrastic.text.columns import offsets_from_lengths
from paraphrastic.text.tokenizer import tokenize
from paraphrastic.vocabulary.kinds import boundary_widths

SET = "tags.ewt"
# Words that a label of each kind needs: rare labels would be the highest and the lowest. Table 10 has a relation that
# few adjectives of EWT have (advmod).
MIN_COUNTS = {"tag": 100, "relation": 100, "JJ": 10, "VBG": 10, "NN": 100}


def gates(artifacts: Artifacts) -> pd.DataFrame:
    """Return the mean L1 norm of the gates of words, `‖σ(Wx x_t + Wh h_t + b)‖₁`, by tag and by relation.

    The words are those of all splits of UD English EWT, on which the model is not trained, with the annotators' tags
    (XPOS) and Universal Dependencies. (The paper parses 10,000 sentences of Wikipedia into Stanford dependencies. They
    have at most 15 words, to avoid errors of the parser.) The model reads the tokenized text. Sentences are left out if
    the tokenizer divides them into other tokens than EWT does.

    Returns:
        One row for each label of at least `MIN_COUNTS[kind]` words, by descending norm within its kind.

        * `kind`: `tag` and `relation` (Table 9), `JJ` (Table 10), `VBG` (Table 11) and `NN` (nouns as subjects and
          objects, §5.2), whose labels are the relations of the words with that tag.
        * `label`, `n` (words), `norm`, and `norm_error`: the standard error of the mean, as if words were
          independent.
        * `highest` and `lowest`: rank of the label in its kind by descending and by ascending norm.

    Raises:
        ModelError: the model is not GRAN in the paper's variant 1, which alone has one gate for each word.
        DataError: the benchmarks lack EWT.
    """
    encoder, module = _gran(artifacts)
    words, sentences = _same_tokens(artifacts)
    ragged = encoder.vocabulary.lookup(sentences)
    start, end = boundary_widths(module.boundary_tokens)
    position = np.arange(len(ragged.ids)) - np.repeat(ragged.offsets[:-1], ragged.lengths)
    is_word = (start <= position) & (position < np.repeat(ragged.lengths - end, ragged.lengths))  # no boundary token
    norms = np.empty(len(ragged.ids))
    for positions, _, values in gated_words(encoder, ragged):
        norms[positions] = values.sum(1).cpu().numpy()  # gates are positive
    of_words = pd.Series(norms[is_word], words.index)
    return pd.concat([_of_kind(kind, words, of_words) for kind in MIN_COUNTS], ignore_index=True)


def _gran(artifacts: Artifacts) -> tuple[TrainedEncoder, Gran]:
    """Return the model and its module."""
    model, scorer = artifacts.model, artifacts.model.scorer
    variant = model.options.get("variant")
    if isinstance(scorer, TrainedEncoder) and isinstance(scorer.module, Gran) and variant == 1:
        return scorer, scorer.module
    name = f"{model.name} in variant {variant}" if variant else model.name
    raise ModelError(f"{model.folder}: {name}: only gran in variant 1 has one gate for each word; train that model")


def _same_tokens(artifacts: Artifacts) -> tuple[pd.DataFrame, pa.StringArray]:
    """Return the words of the sentences that the tokenizer divides as the source does, and these sentences."""
    words = artifacts.read("benchmarks/tagged_tokens.parquet", indexed_schema("tagged_tokens")).to_pandas()
    words = words[words["set"] == SET]
    if words.empty:
        raise DataError(f"{artifacts.folder}/benchmarks: no set {SET}; choose `benchmarks: open`")
    number = words.groupby(["split", "sentence"], sort=False).ngroup().to_numpy()  # (words,), ascending
    offsets = offsets_from_lengths(np.bincount(number)).astype(np.int32)
    tokens = pa.ListArray.from_arrays(pa.array(offsets), pa.array(words["token"], pa.string()))
    sentences = tokenize(pc.binary_join(tokens, " "))
    same = pc.list_value_length(pc.split_pattern(sentences, " ")).to_numpy() == np.diff(offsets)
    return words[same[number]].reset_index(drop=True), sentences.filter(same)


def _of_kind(kind: str, words: pd.DataFrame, norms: pd.Series) -> pd.DataFrame:
    """Return the rows of one kind of label."""
    labels = words[kind] if kind in words else words.loc[words["tag"] == kind, "relation"]
    groups = norms[labels.index].groupby(labels.rename("label"))
    means, errors = groups.mean().round(2), groups.sem().round(4)
    table = pd.DataFrame({"n": groups.size(), "norm": means, "norm_error": errors})
    table = table[table["n"] >= MIN_COUNTS[kind]].sort_values("norm", ascending=False, kind="stable").reset_index()
    table.insert(0, "kind", kind)
    rank = np.arange(1, len(table) + 1)
    return table.assign(highest=rank, lowest=rank[::-1])
