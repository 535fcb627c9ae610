"""Compare two experiments and test whether their difference is significant."""
