"""What a training records on its way."""

from dataclasses import dataclass, field


@dataclass
class Curves:
    """The course of a run.

    Attributes:
        loss: (step, mean loss since the previous point).
        selection: (epochs so far, score on the selection sets).
    """

    loss: list[tuple[int, float]] = field(default_factory=list)
    selection: list[tuple[float, float]] = field(default_factory=list)

    @property
    def best(self) -> float | None:
        """The first point with the highest selection score, in epochs; None without selection."""
        return max(self.selection, key=lambda point: point[1])[0] if self.selection else None
