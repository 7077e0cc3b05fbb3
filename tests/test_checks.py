"""A report prints each check and refuses a failed one."""

import pytest

from plmlab.checks import report


def test_each_check_is_printed_and_a_failed_one_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    report({"this": True, "that": True})
    assert capsys.readouterr().out == "this: yes\nthat: yes\n"
    with pytest.raises(AssertionError, match="a check failed"):
        report({"this": True, "that": False})
    assert capsys.readouterr().out == "this: yes\nthat: NO\n"
