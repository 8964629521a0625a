"""``python -m conspectus`` is the command line."""

from conspectus.cli import main

if __name__ == "__main__":
    main(prog_name="conspectus")
