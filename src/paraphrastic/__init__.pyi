from paraphrastic.base.errors import DataError as DataError
from paraphrastic.base.errors import ModelError as ModelError
from paraphrastic.base.errors import ParameterError as ParameterError
from paraphrastic.base.errors import ParaphrasticError as ParaphrasticError
from paraphrastic.base.errors import ProcessError as ProcessError
from paraphrastic.base.errors import SourceError as SourceError
from paraphrastic.inference.model import Model as Model
from paraphrastic.inference.model_folder import load as load
from paraphrastic.training.standalone import evaluate as evaluate
from paraphrastic.training.standalone import train as train

__version__: str
