"""The ub dialect."""

from __future__ import annotations

from ..definition import OpDefinition as Op

ROWS = (Op("ub.poison", "attrs : type(result)", attributes="value:any?", results="result:any"),)
