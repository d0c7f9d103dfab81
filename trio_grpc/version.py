"""The version of the package: the arena's, with a mark that no package registry takes.

So whoever requires this very version is given our file or nothing, whatever a registry may hold under the name.
"""

__version__ = "0.1.0+file"
