"""Kafka and ZooKeeper, byte for byte, in Python."""
