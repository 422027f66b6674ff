"""What a broker decides for others: groups, transactions, producer ids. Pure; one shard a log."""
