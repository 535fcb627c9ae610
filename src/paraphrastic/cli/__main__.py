"""`python -m paraphrastic.cli` is the command `paraphrastic`."""

from paraphrastic.cli.main import main

main()
