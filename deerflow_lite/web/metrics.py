"""What the service counts, as Prometheus text; it counts nothing itself and names no owner and no thread.

The library is imported when somebody asks, for it takes as long as half a start.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from flask import Response, current_app

from deerflow_lite.gateway import Gateway
from deerflow_lite.web.contract import Call, Routes
from deerflow_lite.web.traffic import Traffic

if TYPE_CHECKING:
    from prometheus_client.core import Metric

routes = Routes("Operating", "What the service counts")
TRAFFIC = "deerflow_lite.traffic"


@routes.route("GET", "/metrics", answer={"type": "string"}, media="text/plain")
def metrics(call: Call) -> Response:
    """Give what the service counts, as Prometheus text."""
    from prometheus_client import CollectorRegistry, ProcessCollector
    from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

    registry = CollectorRegistry()
    registry.register(Collector(call.gateway, current_app.extensions[TRAFFIC]))
    ProcessCollector(registry=registry)
    return Response(generate_latest(registry), content_type=CONTENT_TYPE_LATEST)


class Collector:
    """Reads the counts at the moment they are asked for."""

    def __init__(self, gateway: Gateway, traffic: Traffic) -> None:
        self._gateway, self._traffic = gateway, traffic

    def collect(self) -> "Iterator[Metric]":
        """Give every metric."""
        yield self._requests()
        yield from self._runs()
        yield from self._database()

    def _requests(self) -> "Metric":
        from prometheus_client.core import SummaryMetricFamily

        found = SummaryMetricFamily(
            "deerflow_request_seconds", "Requests answered, and the seconds until each answer began",
            labels=["method", "view", "status"],
        )  # fmt: skip
        for (method, view, status), passed in self._traffic.counted():
            found.add_metric([method, view, str(status)], count_value=passed.number, sum_value=passed.seconds)
        return found

    def _runs(self) -> "Iterator[Metric]":
        from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

        ledger = self._gateway.rooms.ledger
        active = GaugeMetricFamily("deerflow_runs", "Runs in flight", labels=["status"])
        for status, number in zip(("pending", "running"), ledger.in_service(), strict=True):
            active.add_metric([status], number)
        ended = CounterMetricFamily("deerflow_runs_ended", "Runs ended since the start", labels=["status"])
        for status, number in sorted(ledger.ended.items()):
            ended.add_metric([status], number)
        yield active
        yield ended
        yield _gauge("deerflow_streams_open", "Open streams and calls that wait", self._gateway.runs.streams_open)

    def _database(self) -> "Iterator[Metric]":
        from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, SummaryMetricFamily

        db, waited = self._gateway.db, self._gateway.db.waited
        size = GaugeMetricFamily("deerflow_database_bytes", "Size of the database on disk", labels=["file"])
        for name, number in db.sizes().items():
            size.add_metric([name], number)
        yield size
        yield SummaryMetricFamily(
            "deerflow_lock_wait_seconds", "Write transactions, and the seconds that they waited to begin",
            count_value=waited.number, sum_value=waited.seconds,
        )  # fmt: skip
        yield CounterMetricFamily(
            "deerflow_lock_refused", "Write transactions that gave up waiting for another program", value=waited.refused
        )


def _gauge(name: str, about: str, value: int) -> Any:
    from prometheus_client.core import GaugeMetricFamily

    return GaugeMetricFamily(name, about, value=value)
