"""A lying disk: what is not synced may be lost, in part or as a whole, when the power goes."""
