"""A world with virtual time, an unreliable network and a lying disk, all from one seed."""
