"""The log's key, and the audit of a data directory."""
