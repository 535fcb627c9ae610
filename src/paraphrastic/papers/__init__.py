"""The experiments of the papers, and the numbers that the papers publish."""
