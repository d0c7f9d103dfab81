"""The log's signing key, and the audit of a data directory."""
