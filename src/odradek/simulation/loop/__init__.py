"""Virtual loops: a node's asyncio, with its time, turns and threads given by the world."""
