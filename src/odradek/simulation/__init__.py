"""A world with virtual time, an unreliable network and a lying disk, all from one seed.

Whole real nodes run in it, many in one process: their code is given the running loop, a `Disk`
and a `Random`, and cannot tell the difference. Start reading at `world`; a node's way into it is
`hosts`, `processes`, then `loop`, `network` and `disk`. `faults` does harm, `scenario` plays
stories.
"""
