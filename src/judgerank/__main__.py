"""``python -m judgerank`` is the command `judgerank`."""

from judgerank.cli import app

if __name__ == "__main__":
    app(prog_name="judgerank")
