"""The paper's stored results recomputed, and compared cell by cell; what differs is printed, with by how much.

python experiments/verify.py [only=[chatbot_arena]] [only=stale] [sample=1 seed=1] [recompute=false] ...
"""

from omegaconf import DictConfig

from replication.config import main
from replication.verification import verify


@main("verify")
def run(cfg: DictConfig) -> None:
    verify(cfg)


if __name__ == "__main__":
    run()
