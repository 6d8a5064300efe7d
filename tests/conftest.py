"""Settings shared by all tests."""

from hypothesis import settings

# No deadline: how long an example takes says more about the machine than about the code.
settings.register_profile("icct", deadline=None)
settings.load_profile("icct")
