"""What the stages of the pipeline do, for any folders: from files of text to tables, a model and scores."""
