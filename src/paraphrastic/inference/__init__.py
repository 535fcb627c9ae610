"""A trained model in use: load, encode, compare, search and export. Stages save and load models here too."""
