"""Record batches into Arrow columns, with no Python object for each record."""
