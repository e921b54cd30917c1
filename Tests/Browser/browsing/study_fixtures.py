"""The fixtures of the tests about study sessions. A test file imports those that it uses."""

import pytest
from browsing.study import REFUSED
from harness.study import Class, student


@pytest.fixture(scope="module")
def product(study_product):
    return study_product


@pytest.fixture
def visit(visit):
    visit.expect_errors(REFUSED)
    return visit


@pytest.fixture
def group(product):
    return Class(product)


@pytest.fixture
def ann(product):
    return student(product, "ann")


@pytest.fixture
def ben(product):
    return student(product, "ben")
