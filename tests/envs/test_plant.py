"""Plants as tasks: found, played, trained on and remembered like any other."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from icct.cli.main import main
from icct.envs import find_task, make
from icct.envs.find import remembered, task_of
from icct.errors import PlantError, TaskError
from icct.plant import shipped_plants
from icct.policy.file import read_policy
from icct.zoo import zoo_policy
from tests.plant.models import tank_text

EPISODE = '\n[episode]\nhorizon = 20\nreward = "1 - (level - 1)^2/1"\nfails = "level > 1.5"\n'


# A plant's limits are part of its definition, and a bad policy leaves every bound.
@pytest.mark.filterwarnings("ignore:.*(symmetric and normalized|value is -?infinity)")
@pytest.mark.parametrize("name", shipped_plants())
def test_every_plant_is_a_sound_environment(name: str) -> None:
    env = make(f"plant:{name}")
    check_env(env, skip_render_check=True)
    seen, _ = env.reset(seed=3)
    again, _ = make(f"plant:{name}").reset(seed=3)
    assert np.array_equal(seen, again)


def test_a_file_is_found_by_its_format(tmp_path: Path) -> None:
    file = tmp_path / "tank.toml"
    file.write_text(tank_text() + EPISODE)
    task = find_task(str(file))
    assert (task.name, task.horizon, task.step_s) == ("tank", 20, 0.1)
    assert dict(remembered(task))["environment"] == "plant:tank.toml"
    env = make(task)
    env.reset(seed=0)
    seen, reward, ended, *_ = env.step(np.array([1.0], dtype=np.float32))
    assert reward == pytest.approx(1 - (float(seen[0]) - 1) ** 2)
    assert not ended


def test_an_episode_fails_without_reward() -> None:
    env = make("plant:acc")
    env.reset(seed=0)
    total, ended, info = 0.0, False, {}
    while not ended:
        _, reward, ended, truncated, info = env.step(np.array([2.0], dtype=np.float32))
        total += reward
        assert not truncated
    assert info == {"collision": True}
    assert reward == 0.0


def test_a_condition_of_failing_may_speak_of_time(tmp_path: Path) -> None:
    file = tmp_path / "tank.toml"
    file.write_text(tank_text() + EPISODE.replace("level > 1.5", "time > 0.25"))
    env = make(str(file))
    env.reset(seed=0)
    ended = [env.step(np.array([0.0], dtype=np.float32))[2] for _ in range(3)]
    assert ended == [False, False, True]


def test_a_reward_that_is_no_number_is_one_error(tmp_path: Path) -> None:
    file = tmp_path / "tank.toml"
    file.write_text(tank_text() + EPISODE.replace("1 - (level - 1)^2/1", "1e300*(level*1e300)"))
    env = make(str(file))
    env.reset(seed=0)
    with pytest.raises(TaskError, match="the reward is not a number at level = "):
        env.step(np.array([0.0], dtype=np.float32))


def test_a_plant_that_is_no_task_says_so(tmp_path: Path) -> None:
    file = tmp_path / "tank.toml"
    file.write_text(tank_text())
    with pytest.raises(PlantError, match=r"has no \[episode\]"):
        find_task(str(file))


def test_a_blow_up_ends_the_episode(tmp_path: Path) -> None:
    file = tmp_path / "tank.toml"
    file.write_text(tank_text("50*level^2") + EPISODE)
    env = make(str(file))
    env.reset(seed=0)
    seen, reward, ended, *_ = env.step(np.array([0.0], dtype=np.float32))
    assert ended
    assert reward == 0.0
    assert np.isfinite(seen).all()


def test_a_tree_is_distilled_with_the_ordinary_commands(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    law = Path(__file__).parents[2] / "examples" / "laws" / "single-pendulum.json"
    tree = tmp_path / "tree.json"
    command = f"distill {law} --task plant:single-pendulum --leaves 2 --features 2 --episodes 4"
    assert main([*command.split(), "--workers", "1", "-o", str(tree)]) == 0
    policy = read_policy(tree)
    assert task_of(policy).environment == "plant:single-pendulum"
    assert main(["evaluate", str(tree), "--episodes", "2", "--workers", "1"]) == 0
    assert "on single-pendulum: 2 episodes" in capsys.readouterr().out


def test_a_policy_of_a_file_says_what_to_name(tmp_path: Path) -> None:
    policy = zoo_policy("pole-balancer")
    card = (("environment", "plant:tank.toml"),)
    lost = replace(policy, provenance=replace(policy.provenance, task="tank", task_card=card))
    with pytest.raises(TaskError, match=r"name it, --task .*tank.toml"):
        task_of(lost)


def test_an_observation_that_cannot_be_computed_is_one_error(tmp_path: Path) -> None:
    file = tmp_path / "tank.toml"
    seen = '[observations.far]\nunit = ""\nvalue = "1/(level - level)"\nlow = 0\nhigh = 1\n'
    file.write_text(tank_text(more=seen) + EPISODE)
    with pytest.raises(TaskError, match="tank: an observation is not a number at level = 0"):
        make(str(file)).reset(seed=0)


def test_it_has_no_pictures_and_the_live_view_knows() -> None:
    from icct.view.task_simulation import TaskSimulation

    with pytest.raises(TaskError, match="acc is a plant and has no pictures"):
        make("plant:acc", render_mode="rgb_array")
    moment = TaskSimulation(find_task("plant:acc")).reset(0)
    assert moment.frame is None


def test_a_plant_may_be_called_like_a_built_in_task() -> None:
    assert task_of(zoo_policy("plant/lane-keeping")).environment == "plant:lane-keeping"
