"""Commands beside this process: how they are written, started, kept and ended."""
