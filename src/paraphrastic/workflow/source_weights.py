"""Check weights of sources of training pairs, before anything long."""

from collections.abc import Iterable, Sequence

from paraphrastic.base.errors import ParameterError, unknown_name
from paraphrastic.sources.source import Source


def check_source_weights(names: Iterable[str], sources: Sequence[Source]) -> None:
    """Refuse a weight of a source that the corpus does not have.

    Args:
        names: of the sources that `train.source_weights` names.
        sources: of the corpus.

    Raises:
        ParameterError: there is no such source.
    """
    known = [source.name for source in sources]
    for name in names:
        if name not in known:
            raise ParameterError(f"params.yaml: train.source_weights: {unknown_name('source', name, known)}")
