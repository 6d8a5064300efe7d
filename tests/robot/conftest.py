from tests.view.conftest import browser

__all__ = ["browser"]
