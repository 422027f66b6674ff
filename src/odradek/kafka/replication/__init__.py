"""The rules of replication: who is in sync, and what is committed."""
