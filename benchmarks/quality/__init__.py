"""How good retrieval and answers are: question sets, variants of the settings, peers, and their
comparison.

`python -m benchmarks.quality --help` lists the commands. No pipeline code lives here: papers become
indexes through `rag-assets index build`, and questions are put to the engine that every user asks.
"""
