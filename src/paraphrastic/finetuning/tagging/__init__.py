"""Part-of-speech tagging with words that a character model composes: charagram2016 §4.2."""
