"""Hours, days, weeks and months: a column of times cut where the rows are, so that one GROUP BY counts all windows.

Times without a zone are in UTC; they are cut in the zone asked for. A date without an hour belongs to its day in every
zone. Weeks begin on Monday. Engines hand back dates (or, of texts, texts), which get their names here, so that a window
has one name wherever its rows lie; what an engine cannot read comes back behind a question mark and is read here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any, Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pulens.errors import InputError, PulensError, shown
from pulens.inputs.columns import find_column
from pulens.inputs.tables.dialect import is_date

PERIODS: Final = ("hour", "day", "week", "month")
UNREAD = "?"  # before a text that an engine could not read
_OFFSET = r"(Z|[+-][0-9]{2}(:?[0-9]{2})?)$"


@dataclass(frozen=True, slots=True)
class Period:
    """A column of times and how long its windows are; without ``by`` its values are the windows.

    >>> Period("at", "week").name(datetime(2026, 5, 6, 13)), Period("at", "hour", "Asia/Tokyo").name("2026-05-06 13:10")
    ('2026-05-04', '2026-05-06 22:00')
    """

    column: str
    by: str | None
    timezone: str = "UTC"

    def __post_init__(self) -> None:
        if self.by is not None and self.by not in PERIODS:
            raise PulensError(
                f"by must be one of {', '.join(PERIODS)}, got {shown(self.by)}: it says how long a window is."
            )
        check_timezone(self.timezone)

    def name(self, value: Any) -> str:
        """The name of the window that a time lies in."""
        return _plain(value) if self.by is None else _cut(self._local(value), self.by)

    def named(self, value: Any) -> str:
        """The same of what an engine cut already, or could not read."""
        if self.by is None:
            return _plain(value)
        if isinstance(value, str):
            if value.startswith(UNREAD):
                return self.name(value.removeprefix(UNREAD))
            try:
                value = datetime.fromisoformat(f"{value}-01" if len(value) == 7 else value)
            except ValueError:  # engines know years before 1 and after 9999, perhaps through a change of time zone
                raise self.refused(value) from None
        return _cut(value if isinstance(value, datetime) else datetime(value.year, value.month, value.day), self.by)

    def _local(self, value: Any) -> datetime:
        if hasattr(value, "to_pydatetime"):  # of pandas
            value = value.to_pydatetime()
        if isinstance(value, date) and not isinstance(value, datetime):
            return datetime(value.year, value.month, value.day)
        if isinstance(value, str):
            text = value.strip()
            try:
                result = datetime.fromisoformat(f"{text}-01" if len(text) == 7 else text)
            except ValueError:
                raise self.refused(value) from None
            if len(text) <= 10:
                return result
            value = result
        if not isinstance(value, datetime):
            raise self.refused(value)
        moment = value.replace(tzinfo=UTC) if value.tzinfo is None else value
        try:
            return moment.astimezone(ZoneInfo(self.timezone)).replace(tzinfo=None)
        except OverflowError:  # it would be in the year 0 or 10000 there
            raise self.refused(value) from None

    def refused(self, value: Any) -> InputError:
        return InputError(
            f"{shown(self.column)} must hold dates or times such as 2026-05-04 or 2026-05-04 13:00, got {shown(value)}."
            f"{' Write the year first: 2026-05-04 is read the same everywhere.' if is_date(value) else ''}"
        )

    def refused_type(self, kind: Any) -> InputError:
        return InputError(
            f"column {shown(self.column)} must hold dates or times such as 2026-05-04 or 2026-05-04 13:00, but the "
            f"table holds {kind}."
        )


def check_timezone(name: str) -> None:
    """Refuse what is no time zone.

    >>> check_timezone("Paris")
    Traceback (most recent call last):
    ...
    pulens.errors.PulensError: timezone must name a time zone such as UTC or Europe/Paris, got 'Paris'.
    """
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, TypeError, OSError):
        raise PulensError(f"timezone must name a time zone such as UTC or Europe/Paris, got {shown(name)}.") from None


def _cut(moment: datetime, by: str) -> str:
    if by == "hour":
        return moment.strftime("%Y-%m-%d %H:00")
    if by == "month":
        return moment.strftime("%Y-%m")
    day = moment.date()
    return (day - timedelta(days=day.weekday()) if by == "week" else day).isoformat()


def _plain(value: Any) -> str:
    """A value as a name: dates without the hour of midnight."""
    if isinstance(value, date) and not isinstance(value, datetime):
        return value.isoformat()
    return str(value).removesuffix(" 00:00:00")


def last_day(name: str) -> date | None:
    """The last day of the window that has this name, if it begins with a day or a month; of a week its first.

    >>> last_day("2026-02"), last_day("2026-05-04 13:00"), last_day("week-3")
    (datetime.date(2026, 2, 28), datetime.date(2026, 5, 4), None)
    """
    try:
        if len(name) == 7:
            first = date.fromisoformat(f"{name}-01")
            return (first + timedelta(days=31)).replace(day=1) - timedelta(days=1)
        return date.fromisoformat(name[:10])
    except ValueError:
        return None


def alias(place: int) -> str:
    """The name of a column that is cut."""
    return f"pulens_time_{place}"


def cut_lazily(native: Any, periods: Sequence[Period]) -> Any:
    """A table inside an engine with one more column for every period."""
    home = type(native).__module__.partition(".")[0].removeprefix("_")
    cutting = {"duckdb": _in_duckdb, "pyspark": _in_spark, "polars": _in_polars, "ibis": _in_ibis}
    if periods and home not in cutting:
        raise InputError(
            f"times of a {type(native).__name__} cannot be cut into windows here: add a column of days (or weeks) to "
            "it by its own methods, and name that column without by=."
        )
    for place, period in enumerate(periods):
        native = cutting[home](native, period, alias(place))
    return native


def _in_duckdb(native: Any, period: Period, name: str) -> Any:
    kinds = dict(zip(native.columns, map(str, native.types), strict=True))
    find_column(period.column, native.columns)
    kind = kinds[period.column]
    column = '"' + period.column.replace('"', '""') + '"'
    zone = period.timezone.replace("'", "''")

    def local(naive: str) -> str:
        return naive if zone == "UTC" else f"timezone('{zone}', timezone('UTC', {naive}))"

    def cut(moment: str) -> str:
        truncated = f"date_trunc('{period.by}', {moment})"
        return truncated if period.by == "hour" else f"CAST({truncated} AS DATE)"

    if kind == "DATE":
        result = cut(f"CAST({column} AS TIMESTAMP)")
    elif kind == "TIMESTAMP WITH TIME ZONE":
        result = cut(f"timezone('{zone}', {column})")
    elif kind.startswith("TIMESTAMP"):
        result = cut(local(f"CAST({column} AS TIMESTAMP)"))
    elif kind == "VARCHAR":
        text = f"trim({column})"
        moment = f"TRY_CAST({text} AS TIMESTAMP)"
        told = f"timezone('{zone}', TRY_CAST({text} AS TIMESTAMP WITH TIME ZONE))"
        held = (
            f"CASE WHEN length({text}) <= 10 THEN {moment} WHEN regexp_matches({text}, '{_OFFSET}') THEN {told} "
            f"ELSE {local(moment)} END"
        )
        result = f"CASE WHEN {moment} IS NULL THEN '{UNREAD}' || {column} ELSE CAST({cut(held)} AS VARCHAR) END"
    else:
        raise period.refused_type(kind)
    return native.project(f"*, {result} AS {name}")


def _in_spark(native: Any, period: Period, name: str) -> Any:
    from pyspark.sql import functions

    find_column(period.column, native.columns)
    kind = native.schema[period.column].dataType.simpleString()
    column = "`" + period.column.replace("`", "``") + "`"
    zone = period.timezone.replace("'", "")
    pattern = "yyyy-MM-dd HH:mm:ss" if period.by == "hour" else "yyyy-MM-dd"

    # Spark shows moments in the session's zone: what is written of them below is their hour in the zone asked for
    def local(wall: str) -> str:
        return f"from_utc_timestamp({wall}, '{zone}')"

    def cut(moment: str) -> str:
        return f"date_format(date_trunc('{period.by}', {moment}), '{pattern}')"

    if kind == "date":
        result = cut(f"cast({column} as timestamp)")
    elif kind == "timestamp":
        result = cut(local(f"to_utc_timestamp({column}, current_timezone())"))
    elif kind == "timestamp_ntz":
        result = cut(local(f"cast({column} as timestamp)"))
    elif kind == "string":
        text = f"trim({column})"
        moment = f"try_cast({text} as timestamp)"
        told = f"to_utc_timestamp({moment}, current_timezone())"
        held = (
            f"CASE WHEN length({text}) <= 10 THEN {moment} WHEN {text} rlike '{_OFFSET}' THEN {local(told)} "
            f"ELSE {local(moment)} END"
        )
        result = f"CASE WHEN {moment} IS NULL THEN concat('{UNREAD}', {column}) ELSE {cut(held)} END"
    else:
        raise period.refused_type(kind)
    return native.withColumn(name, functions.expr(result))


def _in_polars(native: Any, period: Period, name: str) -> Any:
    import polars

    schema = native.collect_schema()
    kind = schema[find_column(period.column, schema.names())]
    every = {"hour": "1h", "day": "1d", "week": "1w", "month": "1mo"}[str(period.by)]
    column = polars.col(period.column)
    if kind == polars.String:  # of which Polars takes one way of writing for all: every text is looked at once, here
        texts = native.select(column.unique()).collect(engine="streaming")[period.column].to_list()
        names = [None if text is None else period.name(text) for text in texts]
        iso = [None if one is None else (f"{one}-01" if period.by == "month" else one) for one in names]
        pairs = polars.LazyFrame({period.column: texts, name: iso}, schema=dict.fromkeys((period.column, name), kind))
        return native.join(pairs, on=period.column, how="left", nulls_equal=True, maintain_order="left")
    if kind == polars.Date:
        moment = column.cast(polars.Datetime("us"))
    elif isinstance(kind, polars.Datetime):
        moment = column if kind.time_zone is not None else column.dt.replace_time_zone("UTC")
        moment = moment.dt.convert_time_zone(period.timezone).dt.replace_time_zone(None)
    else:
        raise period.refused_type(kind)
    truncated = moment.dt.truncate(every)
    return native.with_columns((truncated if period.by == "hour" else truncated.cast(polars.Date)).alias(name))


def _in_ibis(native: Any, period: Period, name: str) -> Any:
    find_column(period.column, native.columns)
    column = native[period.column]
    kind = column.type()
    unit = {"hour": "h", "day": "D", "week": "W", "month": "M"}[str(period.by)]
    pattern = "%Y-%m-%d %H:%M:%S" if period.by == "hour" else "%Y-%m-%d"
    if period.timezone != "UTC" and not kind.is_date():
        raise InputError(
            f"times of an Ibis table are cut in UTC here, got timezone={shown(period.timezone)}: turn column "
            f"{shown(period.column)} into that zone by the engine's own methods first."
        )
    if kind.is_date() or kind.is_timestamp():
        result = column.cast("timestamp").truncate(unit).strftime(pattern)
    elif kind.is_string():
        moment = column.strip().try_cast("timestamp")
        result = moment.isnull().ifelse(UNREAD + column, moment.truncate(unit).strftime(pattern))
    else:
        raise period.refused_type(kind)
    return native.mutate(**{name: result})


def cut_in_sql(sa: Any, connection: Any, table: Any, period: Period, place: int) -> Any:
    """An SQL expression for the window of a row: by PostgreSQL itself, or by SQLite with a function from here."""
    find_column(period.column, [str(one.name) for one in table.c])
    column, dialect = table.c[period.column], connection.dialect.name
    if dialect == "sqlite":
        name = f"pulens_cut_{place}"
        connection.connection.driver_connection.create_function(name, 1, _in_sqlite(period), deterministic=True)
        return getattr(sa.func, name)(sa.type_coerce(column, sa.String), type_=sa.String)
    if dialect != "postgresql":
        raise InputError(
            f"times are not cut into windows in {dialect} here: add a column of days (or weeks) to the table by a "
            "view, and name that column without by=."
        )
    pattern = "YYYY-MM-DD HH24:MI:SS" if period.by == "hour" else "YYYY-MM-DD"
    kind = column.type

    def local(naive: Any) -> Any:
        return sa.func.timezone(period.timezone, sa.func.timezone("UTC", naive))

    if isinstance(kind, sa.DateTime):
        zoned = bool(getattr(kind, "timezone", False))
        moment = sa.func.timezone(period.timezone, column) if zoned else local(column)
    elif isinstance(kind, sa.Date):
        moment = sa.cast(column, sa.DateTime)
    elif isinstance(kind, sa.String):
        text = sa.func.trim(column)
        told = sa.func.timezone(period.timezone, sa.cast(text, sa.DateTime(timezone=True)))
        moment = sa.case(
            (sa.func.length(text) <= 10, sa.cast(text, sa.DateTime)),
            (text.regexp_match(_OFFSET), told),
            else_=local(sa.cast(text, sa.DateTime)),
        )
    else:
        raise period.refused_type(kind)
    # literals, not parameters: PostgreSQL must see the same expression where it groups
    return sa.func.to_char(
        sa.func.date_trunc(sa.literal_column(f"'{period.by}'"), moment), sa.literal_column(f"'{pattern}'")
    )


def _in_sqlite(period: Period) -> Any:
    from functools import lru_cache

    @lru_cache(maxsize=100_000)
    def cut(value: Any) -> str | None:
        if value is None:
            return None
        try:
            result = period.name(value)
        except InputError:
            return f"{UNREAD}{value}"
        return f"{result}-01" if period.by == "month" else result

    return cut
