"""Atomic broadcast: how the servers of an ensemble agree on one order of writes."""
