"""The version of the package: the arena's version with a local part, which package registries reject.

So only our file satisfies a requirement for exactly this version, even if a registry offers a package of this name.
"""

__version__ = "0.1.0+file"
