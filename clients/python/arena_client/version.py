"""The version of the client: the arena's version with a local mark that no package registry accepts.

So a requirement of exactly this version is met only by our file, whatever a registry offers under the name.
"""

__version__ = "0.1.0+file"
