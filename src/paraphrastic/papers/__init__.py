"""The experiments of the papers: which runs they need, what these gave, and the pages with them."""
