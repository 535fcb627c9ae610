"""A model as a folder of sentence-transformers whose module is of this package: any encoder, with the same vectors."""

from pathlib import Path

from paraphrastic.export.encoders import check_encoder
from paraphrastic.export.json_file import write_json
from paraphrastic.inference.model import Model
from paraphrastic.inference.model_folder import copy_model
from paraphrastic.sentence_transformers import FOLDER, MODULE

FILES = "modules.json", "config_sentence_transformers.json", FOLDER


def write(model: Model, folder: Path) -> str:
    """Write `modules.json`, and the folder of the model beside it.

    Raises:
        ModelError: the model compares pairs, or belongs to another package.
    """
    check_encoder(model)
    copy_model(model.folder, folder / FOLDER)
    write_json(folder / "modules.json", [{"idx": 0, "name": "0", "path": FOLDER, "type": MODULE}])
    write_json(folder / "config_sentence_transformers.json", {"similarity_fn_name": "cosine"})
    return "the vectors are those of the model; loading needs paraphrastic, see the documentation"
