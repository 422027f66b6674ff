"""Every message of a Kafka 3.9 broker in ZooKeeper mode: one file an API, all versions in it."""
