"""The workbench: matches between bots on the author's own machine, under the referee that servers use."""
