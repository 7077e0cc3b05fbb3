"""The models here are too small for two threads: they would only wait for each other."""

import forked
import pytest
import torch

forked.prepare()   # while tests are collected


@pytest.fixture(autouse=True)
def one_thread():
    """For each test; the number of before is back afterwards."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
