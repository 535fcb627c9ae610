"""Learning from labels: tasks with splits, the heads that answer them, and the loop that fits both."""
