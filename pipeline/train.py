"""Stage `train`: training pairs and vocabulary → data/model, with the curves of loss and selection."""

from pathlib import Path
from typing import Any

import pyarrow as pa

from paraphrastic import models
from paraphrastic.atomic import atomic_folder
from paraphrastic.console import message
from paraphrastic.evaluation import Selection, load_selection
from paraphrastic.inference.model_folder import save
from paraphrastic.scoring.baseline import Baseline
from paraphrastic.scoring.scorer import Scorer
from paraphrastic.tables import PAIRS, SENTENCES, read_table
from pipeline.params import Params, checked, load_params
from pipeline.stage import CHECKPOINT_SECONDS, CHECKPOINTS, Curve, fingerprint, run, write_curve

CORPUS, VOCABULARY, BENCHMARKS, MODEL = (Path("data") / n for n in ("corpus", "vocabulary", "benchmarks", "model"))
LOSS, SELECTION = Path("metrics/loss.csv"), Path("metrics/selection.csv")
SELECTIONS_PER_EPOCH = {"epoch": 1, "quarter": 4}
CODE = (Path("src/paraphrastic"),)


def main() -> None:
    """Train the chosen model on the paraphrase pairs."""
    params = load_params()
    config = checked(models.config_class(params.model), params.models[params.model], "models", params.model)
    select = load_selection(BENCHMARKS, params.train.select)
    sentences = read_table(CORPUS / "sentences.parquet", SENTENCES)["text"].combine_chunks()
    model_class = models.model_class(params.model)
    selected_by: list[str] = []
    if issubclass(model_class, Baseline):
        scorer: Scorer = model_class.fit(config, sentences)
        loss: Curve = []
        selection: Curve = [(0, select(scorer))] if select else []
    else:
        if select:
            selected_by = select.names
            message(f"sets that select the epoch: {', '.join(selected_by)}")
        scorer, loss, selection = _train(params, config, sentences, select)
    with atomic_folder(MODEL) as part:
        save(scorer, params.model, config, part, selected_by)
    write_curve(LOSS, ("step", "loss"), loss, digits=6)
    write_curve(SELECTION, ("epoch", "score"), selection, digits=2)


def _train(
    params: Params, config: Any, sentences: pa.StringArray, select: Selection | None
) -> tuple[Scorer, Curve, Curve]:
    import torch  # baselines do not need it

    from paraphrastic.training.checkpoint import Checkpoint
    from paraphrastic.training.display import shown
    from paraphrastic.training.pretraining import find_device, initial_model, paraphrase_trainer

    torch.set_num_threads(config.num_threads)
    device = find_device(params.train.device)
    model = initial_model(params.model, config, VOCABULARY, len(sentences), params.seed, device)
    pairs = read_table(CORPUS / "pairs.parquet", PAIRS)
    selections_per_epoch = SELECTIONS_PER_EPOCH[params.train.select_every]
    trainer = paraphrase_trainer(model, pairs, sentences, config, params.seed, select, selections_per_epoch)
    checkpoint = Checkpoint(checkpoint_folder(params, device.type))
    with shown(params.model, trainer, config.batch_size) as on_step:
        curves = trainer.run(checkpoint, CHECKPOINT_SECONDS, on_step)
    checkpoint.remove()
    return model, curves.loss, curves.selection


def checkpoint_folder(params: Params, device: str) -> Path:
    """Return the folder of this run's checkpoint; the state of a GPU's optimizers differs from that of the CPU's."""
    settings = params.seed, params.train, params.model, params.models[params.model], device
    return CHECKPOINTS / fingerprint(settings, CORPUS, VOCABULARY, BENCHMARKS, *CODE)


if __name__ == "__main__":
    run(main)
