"""Use of models where only the base dependencies can be imported.

Other packages are hidden by an import hook in a process of their own.
"""

import json
import subprocess
import sys

import numpy as np
import pytest

from tests.helpers.encoder_variants import CHARAGRAM, VARIANTS, WORD
from tests.helpers.small_models import save_baseline, save_encoder, save_pair_model, save_word_vectors
from tests.helpers.toy_training import SENTENCES, WORDS

OPTIONAL = (
    *("torch", "scipy", "sklearn", "pandas", "pydantic", "rich", "typer", "dvc", "httpx", "ruamel"),
    *("transformers", "sentence_transformers", "model2vec"),
)
TEXTS = [f'Again, "{WORDS[0]}" was the {WORDS[1]}.', "", "日本 xyzzy", "again again was", *SENTENCES.to_pylist()[:9]]
INSTALL = "install this project with its extra `torch`: pip install '.[torch]' in its folder"

WITH_VECTORS = {
    "avg": lambda folder: save_encoder(folder, "avg", WORD),
    "avg-boundary-tokens": lambda folder: save_encoder(folder, "avg", WORD | {"boundary_tokens": "both"}),
    "charagram": lambda folder: save_encoder(folder, "charagram", CHARAGRAM),
    "charagram-2-layers": lambda folder: save_encoder(folder, "charagram", CHARAGRAM | {"num_layers": 2}),
    "charagram-words": lambda folder: save_encoder(folder, "charagram", CHARAGRAM | {"words": True}),
    "vectors": lambda folder: save_word_vectors(folder, "vectors"),
    "sif": lambda folder: save_word_vectors(folder, "sif", components=1),
}
WITHOUT_VECTORS = {
    name: lambda folder, name=name: save_baseline(folder, name) for name in ("overlap", "tfidf-words", "tfidf-chars")
}
NEED_TORCH = {name: block for name, block in VARIANTS if name not in ("avg", "charagram")}  # one variant of each

HIDE = """
import sys

class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in HIDDEN:
            raise ModuleNotFoundError(f"No module named '{name}'", name=name)

sys.meta_path.insert(0, Hidden())
"""
ENCODE_AND_COMPARE = """
import json
from pathlib import Path
import numpy as np
import paraphrastic
from paraphrastic.base.errors import ModelError

models, out, texts = Path(sys.argv[1]), Path(sys.argv[2]), json.loads(sys.argv[3])
for name in sorted(folder.name for folder in models.iterdir()):
    try:
        model = paraphrastic.load(models / name)
    except ModelError as error:
        (out / f"{name}.txt").write_text(str(error))
        continue
    results = {"similarity": model.similarity_pairwise(texts[:-1], texts[1:])}
    results["oov_share"] = model.scorer.oov_share(model.vocabulary[:3])
    if hasattr(model.scorer, "encode"):
        results["vectors"] = model.encode(texts, batch_size=5)
        results["unit_vectors"] = model.encode(texts, normalize_embeddings=True)
        results["embeddings"] = model.embeddings()
    np.savez(out / f"{name}.npz", **results)
    (out / f"{name}.json").write_text(json.dumps(model.summary()))
print(*(name for name in HIDDEN if name in sys.modules))
"""


def run_with_hidden(hidden: tuple[str, ...], code: str, *arguments: str) -> str:
    """Run Python code where the packages `hidden` cannot be imported, and return what it prints."""
    command = [sys.executable, "-c", f"HIDDEN = {hidden!r}\n{HIDE}\n{code}", *arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """Return models of every kind by name, loaded with all packages."""
    folder = tmp_path_factory.mktemp("models")
    models = {name: save_model(folder / name) for name, save_model in (WITH_VECTORS | WITHOUT_VECTORS).items()}
    models |= {name: save_encoder(folder / name, name, block) for name, block in NEED_TORCH.items()}
    return models | {"ldc": save_pair_model(folder / "ldc")}


@pytest.fixture(scope="module")
def results(models, tmp_path_factory):
    """Return the folder of what a process without the optional packages computes with the models."""
    out = tmp_path_factory.mktemp("out")
    folder = models["avg"].folder.parent
    imported = run_with_hidden(OPTIONAL, ENCODE_AND_COMPARE, str(folder), str(out), json.dumps(TEXTS))
    assert imported == "\n"
    return out


@pytest.mark.parametrize("name", WITH_VECTORS)
def test_vectors_without_optional_packages(models, results, name):
    model, arrays = models[name], np.load(results / f"{name}.npz")
    assert arrays["vectors"].any()
    np.testing.assert_array_equal(arrays["vectors"], model.encode(TEXTS, batch_size=5))
    np.testing.assert_array_equal(arrays["unit_vectors"], model.encode(TEXTS, normalize_embeddings=True))
    np.testing.assert_array_equal(arrays["embeddings"], model.embeddings())


@pytest.mark.parametrize("name", [*WITH_VECTORS, *WITHOUT_VECTORS])
def test_similarity_without_optional_packages(models, results, name):
    model, arrays = models[name], np.load(results / f"{name}.npz")
    assert arrays["similarity"].any()
    np.testing.assert_array_equal(arrays["similarity"], model.similarity_pairwise(TEXTS[:-1], TEXTS[1:]))
    np.testing.assert_array_equal(arrays["oov_share"], model.scorer.oov_share(model.vocabulary[:3]))
    assert json.loads((results / f"{name}.json").read_text()) == model.summary()


@pytest.mark.parametrize("name", [*NEED_TORCH, "ldc"])
def test_error_without_optional_packages(models, results, name):
    message = (results / f"{name}.txt").read_text()
    assert message.startswith(f"{models[name].folder}: {name} needs ")
    assert message.endswith(f"; {INSTALL}")
    assert "\n" not in message


def test_error_without_torch_alone(models, tmp_path):
    (tmp_path / "models").mkdir()
    (tmp_path / "models/lstmavg").symlink_to(models["lstmavg"].folder)
    run_with_hidden(("torch",), ENCODE_AND_COMPARE, str(tmp_path / "models"), str(tmp_path), "[]")
    message = (tmp_path / "lstmavg.txt").read_text()
    assert message == f"{tmp_path}/models/lstmavg: lstmavg needs PyTorch; {INSTALL}"


def test_every_encoder_without_what_the_pipeline_needs(models):
    others = "ruamel", "dvc", "httpx"
    code = "import paraphrastic\nfor folder in sys.argv[1:]: print(paraphrastic.load(folder).name)"
    names = [*NEED_TORCH, "ldc"]
    loaded = run_with_hidden(others, code, *(str(models[name].folder) for name in names))
    assert loaded.split() == names


def test_explanation_without_optional_packages(models):
    code = """
import paraphrastic
from paraphrastic.analysis.explain import explain

for folder in sys.argv[3:]:
    explanation = explain(paraphrastic.load(folder), *sys.argv[1:3])
    print(explanation.cosine, sum(unit.share for unit in explanation.left))
"""
    left, right, folders = TEXTS[0], TEXTS[-1], [str(models[name].folder) for name in WITH_VECTORS]
    printed = run_with_hidden(OPTIONAL, code, left, right, *folders).split()
    expected = [models[name].similarity_pairwise([left], [right])[0] for name in WITH_VECTORS for _ in range(2)]
    assert [float(number) for number in printed] == pytest.approx(expected, abs=1e-6)


def test_imports_of_models_without_torch(models):
    # pyarrow and numba import pandas and SciPy where these are installed
    packages = {*OPTIONAL} - {"pandas", "scipy"}
    folders = [str(models[name].folder) for name in (*WITH_VECTORS, *WITHOUT_VECTORS)]
    code = f"""
import paraphrastic

for folder in {folders!r}:
    paraphrastic.load(folder, device="auto").similarity_pairwise(["a"], ["b"])
    assert not {packages!r} & set(sys.modules), (folder, {packages!r} & set(sys.modules))
"""
    assert run_with_hidden((), code) == ""


FILES_OF_ONE_STRING = """
from pathlib import Path
import paraphrastic

paraphrastic.load(sys.argv[1]).encode(["A dog runs."])  # imports, and compiles
package, files = Path(paraphrastic.__file__).parent, set()

def enter(frame, event, argument):
    path = Path(frame.f_code.co_filename)
    if event == "call" and path.is_relative_to(package):
        files.add(path.relative_to(package).as_posix())

sys.setprofile(enter)
paraphrastic.load(sys.argv[1]).encode(["A dog runs."])
sys.setprofile(None)
print(*sorted(files))
"""


def test_files_that_one_string_enters(models):
    assert run_with_hidden((), FILES_OF_ONE_STRING, str(models["avg"].folder)).split() == [
        "base/reading.py",
        "inference/model.py",
        "inference/model_folder.py",
        "scoring/static.py",
        "scoring/weight_files.py",
        "text/columns.py",
        "text/tokenizer.py",
        "vocabulary/kinds.py",
    ]
