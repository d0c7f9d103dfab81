"""The verbs of an operator: serve, web, drain, backup and the like."""
