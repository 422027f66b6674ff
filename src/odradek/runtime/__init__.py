"""The world the servers live in: disk, tasks, settings, metrics, logs. Imports nothing of ours."""
