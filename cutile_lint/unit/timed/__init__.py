"""The timed region and the per-call path: device work, launches, autotune keys; and their fixes."""
