"""From what must be built to recipes: one module per family of tools.

Finds tools and says their identity. Knows nothing of designs in Python or of the JIT.
"""
