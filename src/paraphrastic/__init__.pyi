from paraphrastic.inference.model import Model as Model
from paraphrastic.inference.model import load as load
