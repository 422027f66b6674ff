"""An unreliable network: links that delay and break, and TCP as asyncio sees it on top."""
