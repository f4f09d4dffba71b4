import pytest

from iron import compat


@pytest.fixture(autouse=True)
def store(own_store):
    """Tests here build designs."""


@pytest.fixture
def aie():
    """The names of mlir-aie, answered for one test."""
    before = compat.installed()
    assert compat.install(), "an mlir-aie is installed here"
    yield
    if not before:
        compat.uninstall()
