"""What the formats for any sentence encoder refuse."""

from paraphrastic.base.errors import ModelError
from paraphrastic.inference.model import Model
from paraphrastic.scoring.external_encoder import ExternalEncoder
from paraphrastic.scoring.scorer import VectorScorer


def check_encoder(model: Model) -> None:
    """Refuse a model that is no sentence encoder of this package.

    Raises:
        ModelError: it compares pairs, or belongs to another package.
    """
    if isinstance(model.scorer, ExternalEncoder):
        raise ModelError(f"{model.folder}: {model.name} is an encoder of another package; copy the folder `path` of it")
    if not isinstance(model.scorer, VectorScorer):
        raise ModelError(f"{model.folder}: {model.name} compares pairs and has no sentence vectors; export an encoder")
