"""`python -m deerflow_lite`: the same program as the console script."""

from deerflow_lite.cli import main

if __name__ == "__main__":
    main()
