"""Faults: what can be done to a world, each with an end, and a nemesis that draws them."""
