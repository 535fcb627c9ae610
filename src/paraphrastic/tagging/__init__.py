"""Part-of-speech tagging with words that a character model composes: charagram2016 §4.2.

Example:
    config = options("charagram")(**block)
    tagger, curves = fit(config, train, dev, 1, Checkpoint(folder), every=60.0, on_step=lambda step, steps: None)
    tagger.accuracy(test)  # in percent

`train`, `dev` and `test` have a row per token, as `paraphrastic.tables` says of `tagged_tokens`. Modules: `options`,
`training` (`fit`), `tagger` (`Tagger`), and what these are made of, `sentences` and `network`.
"""
