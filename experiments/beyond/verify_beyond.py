"""What is stored beyond the paper recomputed, and compared as by experiments/verify.py.

python experiments/beyond/verify_beyond.py [only=[panel]] [only=stale] [sample=1 seed=1] [recompute=false] ...
"""

from omegaconf import DictConfig

from replication.verification import verify
from studies.config import main


@main("verify_beyond")
def run(cfg: DictConfig) -> None:
    verify(cfg)


if __name__ == "__main__":
    run()
