from paraphrastic.inference.model import Model as Model
from paraphrastic.inference.model import load as load
from paraphrastic.workflow.encoder import train as train
from paraphrastic.workflow.evaluating import evaluate as evaluate
