"""What tests of recipes compute in processes of their own, which must find it in a module."""

import os
import time
from pathlib import Path


def halved(number: int, name: str | None) -> tuple[float, str | None]:
    return number / 2, name


def noted(log: str, number: int) -> int:
    with Path(log).open("a") as file:
        file.write(f"{number} ")
    return number


def stumbles(number: int) -> float:
    return 1 / number


def waits(log: str, seconds: float) -> float:
    with Path(log).open("a") as file:
        file.write(f"{os.getpid()} ")
    time.sleep(seconds)
    return seconds
