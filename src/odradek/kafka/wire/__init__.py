"""How Kafka speaks: messages, frames, record batches. No socket, no clock."""
