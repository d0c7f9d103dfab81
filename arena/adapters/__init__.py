"""The games in the clothes of other libraries, each module for one of them. They need those libraries installed."""
