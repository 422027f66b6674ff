"""Topics as Spark tables and streams: the data source `odradek`."""
