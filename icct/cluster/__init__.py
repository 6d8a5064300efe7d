"""The same work on many machines: pieces, and the episodes of one search, done by a Ray cluster.

Ray only says who does what and does it again where a process or a node was lost. All results are
files that the nodes share, written in one step each, as on one machine. Nothing here imports Ray
before a cluster is asked for.
"""
