"""The version of the client: Arena's version with a local mark that no package registry accepts.

So only our file satisfies a requirement for exactly this version, even if a registry offers a package with this name.
"""

__version__ = "0.1.0+file"
