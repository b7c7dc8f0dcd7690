"""The rule plugins: ``<group>/<name>.py`` (the check) beside ``<group>/<name>.yaml`` (its metadata, documentation and cases).

Imported as ``cutile_lint._rules`` only. The format is described in ``docs/rule-format.md``.
"""
