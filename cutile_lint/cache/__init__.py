"""Answers kept from one run to the next, in a folder ``.cutile_lint_cache`` that git ignores by itself.

Two kinds of entries, both keyed by everything that could change them:

- ``*.found``: the findings of a question (paths, selection, configuration, folder), with the record of all that was read
  (:mod:`cutile_lint.inputs`); good for every output format;
- ``*.said``: what one command line printed and its exit status, with the name of the ``found`` entry that it rests on.

:mod:`cutile_lint.cache.fast` answers from them and imports next to nothing; :mod:`cutile_lint.cache.store` writes them.
"""
