"""The console: a page that shows a cluster as it coordinates itself."""
