"""``python -m pulens``"""

from pulens.cli import main

if __name__ == "__main__":
    main()
