from paraphrastic.model import Model as Model
from paraphrastic.model import load as load
