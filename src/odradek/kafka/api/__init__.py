"""One file a request kind: what the broker does when asked."""
