import sys

from coadapt.progress import Lines, Silent, for_terminal


def test_lines_tell_how_far_it_is_and_what_matters():
    lines = []
    with Lines(seconds_between=0, write=lines.append).stage("training", 2) as advance:
        advance(loss=0.25)
        advance(loss=0.125)
    assert [line.split(",")[0] for line in lines] == ["training: 1/2", "training: 2/2"]
    assert lines[1].endswith("0 s left  loss 0.125")


def test_lines_are_rare_but_the_last_is_always_told():
    lines = []
    with Lines(seconds_between=1e9, write=lines.append).stage("training", 3) as advance:
        for _ in range(3):
            advance()
    assert lines == ["training: 3/3, 0 s left"]


def test_without_a_terminal_there_are_lines_and_quiet_is_quiet():
    assert isinstance(for_terminal(), Lines)
    assert isinstance(for_terminal(quiet=True), Silent)


def test_a_bar_on_a_terminal_shows_the_time_left(monkeypatch, capsys):
    monkeypatch.setenv("FORCE_COLOR", "1")
    with for_terminal().stage("training", 2) as advance:
        advance(loss=0.25)
        advance(loss=0.125)
    shown = capsys.readouterr().err
    assert "training" in shown
    assert "left" in shown


def test_that_nobody_listens_any_more_is_no_reason_to_stop(monkeypatch):
    class Closed:
        def write(self, text):
            raise BrokenPipeError

        def flush(self):
            raise BrokenPipeError

    monkeypatch.setattr(sys, "stderr", Closed())
    progress = Lines(seconds_between=0)
    progress.say("hello")
    with progress.stage("training", 2) as advance:
        advance()


def test_a_stage_that_goes_on_counts_from_where_it_was_and_tells_its_speed():
    lines = []
    with Lines(seconds_between=0, write=lines.append).stage("training", 100, done=50, steps=10) as advance:
        advance(25, loss=0.5)
    assert lines[0].startswith("training: 75/100, ")
    assert " steps/s, " in lines[0]
    assert lines[0].endswith(" s left  loss 0.5")
