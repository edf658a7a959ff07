"""Ray on a machine that is busy: imported before Ray, makes its waits long, and its workers as nice as the test."""

import os
import unittest

WAITS = "worker_register_timeout_seconds gcs_server_request_timeout_seconds gcs_server_port_wait_time_s"
WAITS += " gcs_rpc_server_reconnect_timeout_s gcs_rpc_server_connect_timeout_s py_gcs_connect_timeout_s health_check_failure_threshold"
os.environ.update({"RAY_" + name: "1000" for name in WAITS.split()}, RAY_agent_register_timeout_ms="1000000")
os.environ.update(RAY_worker_niceness="0", RAY_DEDUP_LOGS="0", RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO="0")


def started(attempt):
    """What attempt() returns, None where Ray gave up its own start: it gives its processes 15 and 30 s, which no setting changes. After
    four of these the test is skipped."""
    for _ in range(4):
        result = attempt()
        if result is not None:
            return result
    raise unittest.SkipTest("Ray does not come up in the 30 s that it gives itself: the machine is too busy")
