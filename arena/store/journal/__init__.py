"""The write-ahead log of running matches."""
