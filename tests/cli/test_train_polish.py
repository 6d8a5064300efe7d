from icct.cli.main import main
from icct.policy.file import read_policy

SHORT = ("--steps", "200", "--learning-starts", "100", "--evaluate-every", "100",
         "--evaluate-episodes", "1", "--buffer-size", "300", "--batch-size", "16",
         "--critic-hidden", "8",
         "--device", "cpu", "--workers", "1", "--scoring-workers", "1")  # fmt: skip


def test_the_best_policy_is_polished_at_the_end(tmp_path, capsys):
    words = ["train", "inverted-pendulum", "--method", "icct-2-feature", *SHORT]
    assert main([*words, "--polish", "0.03", "--out", str(tmp_path / "run")]) == 0
    out = capsys.readouterr().out
    polished = tmp_path / "run" / "policies" / "seed-0.polished.json"
    best = read_policy(tmp_path / "run" / "policies" / "seed-0.best.json")
    assert f"written     {polished}" in out
    assert len(read_policy(polished).leaves) == len(best.leaves)


def test_polishing_knows_the_options_of_the_run_and_goes_on_where_it_stopped(tmp_path, capsys):
    run = tmp_path / "run"
    words = ["train", "inverted-pendulum", "--method", "icct-2-feature", *SHORT, "--seeds", "2"]
    assert main([*words, "--option", "pole_length=1.2", "--out", str(run)]) == 0
    again = ["train", "--resume", str(run), "--polish", "0.02", "--workers", "1"]
    assert main(again) == 0
    assert "on inverted-pendulum (pole_length=1.2)" in capsys.readouterr().out
    first, second = (run / "policies" / f"seed-{n}.polished.json" for n in range(2))
    second.unlink()  # as if it had been stopped between the two
    assert main(again) == 0
    out = capsys.readouterr().out
    assert f"{first}: polished before" in out
    assert f"written     {second}" in out
    assert not list(run.glob("policies/*.journal"))


def test_wrong_minutes_are_refused_before_the_training(tmp_path, capsys):
    words = ["train", "inverted-pendulum", "--out", str(tmp_path / "run"), "--polish", "0"]
    assert main(words) == 2
    assert "minutes is 0.0" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()
