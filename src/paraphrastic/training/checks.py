"""Check before anything long that a model can be trained as the parameters say.

The stage `inputs`, which every `dvc repro` runs, imports this module: it must not import PyTorch, which takes seconds.
"""

from collections.abc import Iterable, Sequence

from paraphrastic import models
from paraphrastic.base.errors import ParameterError, unknown_name
from paraphrastic.base.parameters import Params, Teacher


def check_student(params: Params) -> None:
    """Refuse a teacher for a model that has no vectors to train.

    Raises:
        ParameterError: the model is a baseline or compares pairs of sentences.
    """
    if params.teacher.path is None:
        return
    from paraphrastic.nn.encoder import Encoder

    if not issubclass(models.model_class(params.model), Encoder):
        raise ParameterError(
            f"params.yaml: teacher.path: {params.model} has no sentence vectors that are trained; leave it empty, or "
            "choose an encoder"
        )


def check_single_sentences(names: Sequence[str], teacher: Teacher) -> None:
    """Refuse single sentences where anything but the vectors of a teacher would be learned from them.

    Args:
        names: of the sources of the corpus that have single sentences.
        teacher: options of the teacher.

    Raises:
        ParameterError: there is such a source, and no teacher, or a margin loss.
    """
    if names and teacher.path is None:
        raise ParameterError(
            f"params.yaml: corpus: {names[0]} has single sentences, which are learned from a teacher only; set "
            "teacher.path, or leave it out"
        )
    if names and teacher.margin_weight:
        raise ParameterError(
            f"params.yaml: teacher.margin_weight = {teacher.margin_weight:g}: would take the single sentences of "
            f"{names[0]} for paraphrases; set it to 0, or leave them out of corpus"
        )


def check_source_weights(names: Iterable[str], known: Sequence[str]) -> None:
    """Refuse a weight of a source that the corpus does not have.

    Args:
        names: of the sources that `train.source_weights` names.
        known: names of the sources of the corpus.

    Raises:
        ParameterError: there is no such source.
    """
    for name in names:
        if name not in known:
            raise ParameterError(f"params.yaml: train.source_weights: {unknown_name('source', name, known)}")
