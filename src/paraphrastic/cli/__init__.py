"""The command `paraphrastic`. Modules that a command needs are imported in it, so that `--help` is fast."""
