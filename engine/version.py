"""The version of the engine: the arena's, with a local part, which package registries reject.

A requirement of exactly this version therefore installs our file or nothing, whatever a registry offers under the name.
"""

__version__ = "0.1.0+file"
