"""Tables for pandas, Polars and Arrow, from columns of plain values."""

from __future__ import annotations

import importlib
from typing import Any

Columns = dict[str, list[Any]]


def library(name: str, extra: str, needed_by: str) -> Any:
    """The module `name`. Raises ImportError that says how to install it."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ImportError(
            f"{needed_by} needs {name}, which cannot be imported ({error}): pip install 'gputomo[{extra}]'"
        ) from error


def to_pandas(columns: Columns) -> Any:
    return library("pandas", "pandas", "to_pandas()").DataFrame(columns)


def to_polars(columns: Columns) -> Any:
    # The type of a column may show only beyond the rows that Polars looks at by default.
    return library("polars", "polars", "to_polars()").DataFrame(columns, infer_schema_length=None)


def to_arrow(columns: Columns) -> Any:
    return library("pyarrow", "arrow", "to_arrow()").table(columns)


class Tabular:
    """Adds conversions to objects that have a table."""

    def _columns(self) -> Columns:
        raise NotImplementedError

    def to_pandas(self) -> Any:
        """The table as a `pandas.DataFrame`. Raises ImportError without pandas."""
        return to_pandas(self._columns())

    def to_polars(self) -> Any:
        """The table as a `polars.DataFrame`. Raises ImportError without Polars."""
        return to_polars(self._columns())

    def to_arrow(self) -> Any:
        """The table as a `pyarrow.Table`. Raises ImportError without PyArrow."""
        return to_arrow(self._columns())
