"""Check that the model can learn from a teacher, before anything long.

It is a module of its own because `inputs`, which every `dvc repro` runs, imports it: PyTorch, which training imports,
takes seconds.
"""

from paraphrastic import models
from paraphrastic.base.errors import ParameterError
from paraphrastic.base.parameters import Params


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
