import numpy as np

SIZES = {
    "inverted-pendulum": (400, 600, 3),
    "lunar-lander": (400, 600, 3),
    "lane-keeping": (250, 600, 3),
}


def test_pictures_without_a_display(any_task, open_env, monkeypatch):
    monkeypatch.delenv("DISPLAY", raising=False)
    env = open_env(any_task, render_mode="rgb_array")
    env.reset(seed=0)
    first = env.render()
    assert first.shape == SIZES.get(any_task, (600, 600, 3))
    assert first.dtype == np.uint8
    assert first.std() > 5  # something is drawn
    for _ in range(3):
        env.step(env.action_space.high)
    assert not np.array_equal(env.render(), first)


def test_lane_keeping_draws_with_the_dummy_video_driver(open_env, monkeypatch):
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    env = open_env("lane-keeping", render_mode="rgb_array")
    env.reset(seed=0)
    assert env.render().std() > 5


def test_no_mode_no_picture(any_task, open_env):
    env = open_env(any_task)
    env.reset(seed=0)
    assert env.render() is None


def test_drawing_does_not_change_the_episode(traffic_task, open_env):
    def trace(render_mode):
        env = open_env(traffic_task, render_mode=render_mode)
        found = [env.reset(seed=3)[0]]
        for _ in range(30):
            env.render()
            found.append(env.step(env.action_space.low)[0])
        env.close()
        return np.stack(found)

    assert np.array_equal(trace(None), trace("rgb_array"))
