"""The version of the package: the arena's, with a mark that no package registry takes.

So a requirement of exactly this version installs our file or nothing, whatever a registry has under the name.
"""

__version__ = "0.1.0+file"
