"""Clients of a Kafka cluster: for threads that may block, and no loop."""
