"""The printed exchanges of the routes of stateless runs; a test runs every one of them as it stands."""

from deerflow_lite.web.contract import Example
from deerflow_lite.web.run_examples import ASK

RUN = Example(body=ASK)
WAIT = Example(body=ASK)
BATCH = Example(body=[ASK, ASK])
