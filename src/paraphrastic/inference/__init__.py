"""A trained model in use: load, encode, compare and search. Stages save and load models here too."""

from typing import Literal

# of the numbers of vectors; here for those who need none
Precision = Literal["float32", "float16", "int8", "uint8", "binary", "ubinary"]
SHIPPED = ("small",)  # names of the encoders in the package, the first one for whoever names none
CARD = "README.md"  # of a model, as hubs show it
