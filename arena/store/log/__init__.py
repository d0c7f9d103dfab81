"""The log's key, its adoption of older results, and the audit of a data directory."""
