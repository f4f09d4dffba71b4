import pytest
from projects import Project


@pytest.fixture(autouse=True)
def store(own_store):
    """Every test here builds designs."""


@pytest.fixture
def project(tmp_path) -> Project:
    return Project(tmp_path / "a user's project")
