"""The experiments of the papers: which runs they need, what these gave, and the pages with them.

Read the modules in this order:

* `experiments`, `claims`: what is declared;
* `plan`: from a declaration to runs, and the parameters that determine a result;
* `running`, `queue`, `records`: a run in DVC's queue, and its metrics read back;
* `results`, `project`: stored results, and which are missing or outdated;
* `comparing`: a published table beside ours; `facts`, `figures`, `pages`: the pages;
* `verdicts`, `claims_page`: claims decided, and as text;
* `tuning`: searches of grids; `configurations`: what `paraphrastic experiments` and `plots` list.
"""
