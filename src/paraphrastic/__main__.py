"""`python -m paraphrastic` is the command `paraphrastic`."""

from paraphrastic.cli.main import main

main()
