"""The training itself: of each group the reader is to give the line that answers the highest score,
or all a score below 0 where none answers (a softmax over the lines and "none of them", whose score
is 0). Importing this module imports torch.
"""

import random
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
import torch
from torch.nn import functional

from benchmarks.reader_training.groups import Group, drawn, passes
from benchmarks.reader_training.lines import Line
from benchmarks.reader_training.measures import Score, Scores
from benchmarks.reader_training.model import ReaderInTraining
from benchmarks.reader_training.nearness import Compared
from rag_assets.search.reranking.trained_reader import HEAD_CONSTANT, HEAD_NEARNESS

Progress = Callable[[int], float]
"""number of the step -> share of the training that is over before it, 0 to 1 and above."""
_QUESTIONS_A_STEP = 10
_WARM_UP_STEPS = 60
_WITHOUT_BEFORE = 0.15
"""Chance that a question is trained without what stands before its lines."""
_BETAS, _WEIGHT_DECAY, _MAX_GRADIENT = (0.9, 0.98), 0.01, 1.0
_NOT_DECAYED = (HEAD_NEARNESS, HEAD_CONSTANT)
REPORT_STEPS = 50
_MEAN_STEPS = 100
"""Steps that the printed figures are means over."""


@dataclass(frozen=True)
class TrainingSettings:
    """What a training depends on beside its questions."""

    learning_rate: float = 5e-4
    """At its highest, after the warm-up; from there it falls to 0 with the end of the training."""
    rank: int = 16
    """Of the product that is added to each matrix."""
    seed: int = 0


@dataclass(frozen=True)
class Report:
    """How the training stands: means over the last steps."""

    step: int
    loss: float
    right: float
    """Share of the groups whose highest score is the right one."""
    learning_rate: float

    def __str__(self) -> str:
        return f"step {self.step}: loss {self.loss:.3f}, right {self.right:.3f}, learning rate {self.learning_rate:.6f}"


def for_steps(n_steps: int) -> Progress:
    return lambda step: step / n_steps


def for_minutes(minutes: float) -> Progress:
    """From now on."""
    begun = time.monotonic()
    return lambda _step: (time.monotonic() - begun) / (60 * minutes)


def train(
    compared: Sequence[Compared],
    settings: TrainingSettings,
    progress: Progress,
    report: Callable[[Report], None],
) -> ReaderInTraining:
    """A reader trained until `progress` reaches 1. The same questions, settings and number of steps
    make the same one on the same machine with as many threads. Reports each REPORT_STEPS steps and
    at the end."""
    torch.manual_seed(settings.seed)
    chance = random.Random(settings.seed)
    reader = ReaderInTraining(settings.rank)
    optimizer = _optimizer(reader)
    questions = passes(compared, chance)
    losses: deque[float] = deque(maxlen=_MEAN_STEPS)
    shares: deque[float] = deque(maxlen=_MEAN_STEPS)
    step, rate = 0, 0.0
    while (over := progress(step)) < 1:
        rate = settings.learning_rate * min(1.0, (step + 1) / _WARM_UP_STEPS) * (1 - over)
        for parameters in optimizer.param_groups:
            parameters["lr"] = rate
        groups = [drawn(one, chance) for one in islice(questions, _QUESTIONS_A_STEP)]
        loss, share = _step(reader, optimizer, groups, chance)
        losses.append(loss)
        shares.append(share)
        step += 1
        if step % REPORT_STEPS == 0:
            report(Report(step, float(np.mean(losses)), float(np.mean(shares)), rate))
    if step % REPORT_STEPS:
        report(Report(step, float(np.mean(losses)), float(np.mean(shares)), rate))
    return reader


def scorer(reader: ReaderInTraining) -> Score:
    """How it scores now, for measuring."""

    def score(question: str, lines: Sequence[Line]) -> Scores:
        with torch.inference_mode():
            scores: Scores = reader.scores(question, lines).numpy()
        return scores

    return score


def _step(
    reader: ReaderInTraining,
    optimizer: torch.optim.Optimizer,
    groups: Sequence[Group],
    chance: random.Random,
) -> tuple[float, float]:
    """One change of the weights. Returns the loss and the share of groups that were right before
    it."""
    texts = []
    for group in groups:
        is_bare = chance.random() < _WITHOUT_BEFORE
        texts += [
            (group.question, "" if is_bare else line.before, line.text) for line in group.lines
        ]
    scores = torch.split(reader.scores_of_pairs(texts), [len(group.lines) for group in groups])
    none = torch.zeros(1)
    choices = [torch.cat([own, none]) for own in scores]
    rights = [0 if group.has_answer else len(group.lines) for group in groups]
    losses = [
        functional.cross_entropy(choice[None], torch.tensor([right]))
        for choice, right in zip(choices, rights, strict=True)
    ]
    loss = torch.stack(losses).mean()
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(list(reader.trained.values()), _MAX_GRADIENT)
    optimizer.step()
    n_right = sum(
        int(choice.argmax()) == right for choice, right in zip(choices, rights, strict=True)
    )
    return float(loss.detach()), n_right / len(groups)


def _optimizer(reader: ReaderInTraining) -> torch.optim.Optimizer:
    """AdamW; the two single numbers are not drawn towards 0."""
    decayed = [value for name, value in reader.trained.items() if name not in _NOT_DECAYED]
    others = [reader.trained[name] for name in _NOT_DECAYED]
    groups = [
        {"params": decayed, "weight_decay": _WEIGHT_DECAY},
        {"params": others, "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(groups, betas=_BETAS)
