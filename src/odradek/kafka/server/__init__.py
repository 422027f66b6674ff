"""Sockets, the table of handlers, and the wiring of a node."""
