"""A Kafka 3.9 broker, its clients and its wire."""
