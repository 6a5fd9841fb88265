"""The command `judgerank`, installed or as ``python -m judgerank``.

It is apart from what it loads, so that Ctrl-C ends in one sentence from the first moment on.
"""

import sys


def main() -> None:
    """Run the command."""
    try:
        from judgerank.cli import app
    except KeyboardInterrupt:
        sys.exit(interrupted())
    app(prog_name="judgerank")


def interrupted() -> int:
    """Say that nothing was begun; the exit code."""
    print("judgerank: interrupted before it began", file=sys.stderr)
    return 130  # what a shell gives for Ctrl-C


if __name__ == "__main__":
    main()
