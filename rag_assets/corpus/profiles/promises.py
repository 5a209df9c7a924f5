"""What must hold of the profiles before they are published."""

from collections import Counter
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from rag_assets.core.promises import Offenders, Promise


@dataclass(frozen=True)
class ProfilesCandidate:
    """Profiles before publication."""

    profiles: pa.Table
    blocks: pa.Table
    """Those they were made of: the column paper_id."""


def _not_one_each(candidate: ProfilesCandidate) -> Offenders:
    """Papers with blocks that have no profile or several, and profiles of no paper."""
    found = Counter(candidate.profiles["paper_id"].to_pylist())
    wanted = set(pc.unique(candidate.blocks["paper_id"]).to_pylist())
    return [
        {"paper_id": paper, "n_profiles": found[paper], "has_text": paper in wanted}
        for paper in sorted(found.keys() | wanted)
        if found[paper] != (paper in wanted)
    ]


PROFILE_PROMISES: list[Promise[ProfilesCandidate]] = [
    Promise("one_per_paper", "Every paper with text has one profile, and no other paper has one.", _not_one_each),
]
