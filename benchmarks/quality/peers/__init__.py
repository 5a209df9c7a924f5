"""Other ways to search, over the texts that the pipeline parsed and with the weights that it embeds
with.

A peer is what its own documentation recommends, not what it could be tuned to. None is a dependency
of the project.
"""

from benchmarks.quality.peers.base import Build, Peer
from benchmarks.quality.peers.haiku_recipe import HaikuRecipe
from benchmarks.quality.peers.llama_index import FUSIONS, LlamaIndexPeer
from benchmarks.quality.peers.naive import Naive

PEERS: dict[str, Build] = {
    "naive": Naive.built,
    "haiku.rag-recipe": HaikuRecipe.built,
    **{f"llamaindex-{name}": LlamaIndexPeer.building(mode) for name, mode in FUSIONS.items()},
}
__all__ = ["PEERS", "Peer"]
