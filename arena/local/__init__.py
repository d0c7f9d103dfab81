"""The workbench: matches between bots on one's own machine, by the same referee as the server's."""
