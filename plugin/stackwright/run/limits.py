"""Limits that a process sets itself before it does heavy work."""

from __future__ import annotations

SINGLE_THREAD = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
"""The field solver's matrices are small: threads cost it more time than they save. Read when NumPy is imported."""

NO_PLUGINS = ("PYDANTIC_DISABLE_PLUGINS", "__all__")
"""Pydantic would look through every installed package for plugins of its own; no model of ours has any."""

GARBAGE_EVERY = (500_000, 20, 20)
"""Objects after which Python looks for rings of garbage: a board's many rows hold none, nor do the modules, models and
catalogues that every check loads. The largest board makes 300,000 objects, and to look costs a check of it 3 %. Rings
of earlier boards of one run are still found."""
