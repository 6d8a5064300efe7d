"""What the page on plants shows is what the package reads and says."""

import re
from pathlib import Path

import pytest

from icct.errors import PlantError
from icct.plant import read_plant, shipped_plants
from icct.plant.file import plant_from_toml
from icct.zoo import zoo_policy
from tests.plant.models import tank_text

PAGE = (Path(__file__).parents[2] / "docs" / "plants.md").read_text()


def test_the_file_on_the_page_is_the_shipped_one() -> None:
    (text,) = re.findall(r"```toml\n(.*?)```", PAGE, flags=re.S)
    shown, shipped = plant_from_toml(text.encode()), read_plant("plant:single-pendulum")
    for part in ("name", "summary", "source", "leaves_out", "period", "states", "actions"):
        assert getattr(shown, part) == getattr(shipped, part)
    assert shown.observations == shipped.observations


def test_the_error_on_the_page_is_the_real_one(tmp_path: Path, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.chdir(tmp_path)
    Path("tank.toml").write_text(tank_text("inflow - 0.5*levle"))
    with pytest.raises(PlantError) as caught:
        read_plant("tank.toml")
    assert f"```text\n{caught.value}\n```" in PAGE


def test_every_shipped_plant_has_a_tree_and_stands_on_the_page() -> None:
    for name in shipped_plants():
        plant, policy = read_plant(f"plant:{name}"), zoo_policy(f"plant/{name}")
        plant.check_fits(policy)
        assert len(policy.leaves) <= 16
        assert f"| `{name}` | {len(plant.states)}" in PAGE
        assert f"| `{name}` | {len(policy.leaves)} |" in PAGE
