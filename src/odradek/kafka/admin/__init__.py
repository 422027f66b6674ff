"""The rules of administration: names, placement, what may be asked for."""
