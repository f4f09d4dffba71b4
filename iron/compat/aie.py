"""``import iron.compat.aie`` before ``import aie.iron``: the same script then runs with iron.

ImportError when a real mlir-aie is installed: then nothing is answered here, and the import
should go.
"""

from __future__ import annotations

from .hook import install, real_package

if not install():
    raise ImportError(
        f"mlir-aie is installed ({real_package()}), and iron never shadows it; leave out "
        "`import iron.compat.aie`, or write `import iron` in place of `import aie.iron as iron`"
    )
