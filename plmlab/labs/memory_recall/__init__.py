"""The Memory Recall Lab: which blocks of a long text enter the memory of CogLTX, round by round, and the answer."""
