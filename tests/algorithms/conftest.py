import pytest


@pytest.fixture(autouse=True)
def store(own_store):
    """Tests here run designs."""
