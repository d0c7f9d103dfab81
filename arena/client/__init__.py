"""Clients that the command line uses: of a running server over gRPC, or of a data directory without one."""
