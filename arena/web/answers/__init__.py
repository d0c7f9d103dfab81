"""The HTTP responses that carry pages, documents and downloads."""
