"""Commands beside this process: specs, start, supervision and end."""
