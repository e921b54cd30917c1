"""What an operator sees of the running services."""

import json
import re
import subprocess

import pytest
import requests
import zmq
from harness.waiting import eventually
from prometheus import MONITORING
from student import Student


def promtool(*arguments, text=None):
    done = subprocess.run(
        ["promtool", *arguments], input=text, capture_output=True, text=True, cwd=MONITORING, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_rules():
    promtool("check", "rules", "alerts.yml")
    promtool("test", "rules", "alerts.test.yml")
    promtool("check", "config", "--syntax-only", "prometheus.yml")


def test_each_rule_has_a_runbook_entry():
    rules = (MONITORING / "alerts.yml").read_text()
    names = re.findall(r"alert: (\w+)", rules)
    headings = re.findall(r"^### (\w+)$", (MONITORING / "README.md").read_text(), re.MULTILINE)
    assert names and headings == names
    assert re.findall(r"runbook: deploy/monitoring/README.md#(\w+)", rules) == [name.lower() for name in names]


def test_metrics_of_each_service_are_well_formed(product):
    for service, address in product.metrics.items():
        answer = requests.get(f"http://{address}/metrics", timeout=60)
        assert answer.ok and answer.headers["Content-Type"].startswith("text/plain; version=0.0.4"), service
        promtool("check", "metrics", text=answer.text)
        assert f'msi_build_info{{service="{service}"' in answer.text
        for path in ("livez", "readyz"):
            state = requests.get(f"http://{address}/{path}", timeout=60)
            assert state.status_code == 200 and state.json()["status"] == "ok", (service, path, state.text)


def test_a_frozen_relay_is_noticed_and_the_canarys_silence_with_its_stage(product, prometheus, canary):
    """All of its alerts resolve."""
    address = product.metrics["fcm-relay"]
    arrived = 'msi_canary_messages_total{outcome="received"}'
    eventually("messages reach the canary's phone", lambda: prometheus.value(arrived) >= 2, 60)
    relayed = 'msi_canary_duration_seconds_count{stage="relayed"}'
    eventually("messages are relayed", lambda: prometheus.value(relayed) >= 2, 60)
    eventually("no alert", lambda: prometheus.alerts("MSICanarySilent") == [], 60)
    pushed = 'msi_canary_push_messages_total{outcome="received"}'
    eventually("pushes reach the canary's subscription", lambda: prometheus.value(pushed) >= 2, 60)
    eventually("no alert about pushes", lambda: prometheus.alerts("MSICanaryPushSilent") == [], 60)
    eventually("no alert about a service", lambda: prometheus.alerts("MSIServiceDown") == [], 60)
    with product.frozen("msi-fcm-relay"):
        with pytest.raises(requests.Timeout):
            requests.get(f"http://{address}/livez", timeout=1)
        eventually(
            "the alert about the relay",
            lambda: [labels["instance"] for labels in prometheus.alerts("MSIServiceDown")] == [address], 90)
        eventually("the alert about silence", lambda: prometheus.alerts("MSICanarySilent") != [], 60)
        # Web Push does not wait for FCM.
        before = prometheus.value(pushed)
        eventually("further pushes", lambda: prometheus.value(pushed) >= before + 2, 60)
        assert prometheus.alerts("MSICanaryPushSilent") == []
        eventually(
            "the stage", lambda: prometheus.value('msi_canary_messages_total{outcome="not_relayed"}') >= 1, 60)
    for alert in ("MSIServiceDown", "MSICanarySilent"):
        eventually("the alert resolves", lambda alert=alert: prometheus.alerts(alert) == [], 60)


@pytest.mark.at_length
def test_late_messages_of_the_canary_are_noticed(product, prometheus, canary):
    """A fifth of all messages: the more have arrived before, the later it comes. So this test is the second one with the canary."""
    with product.frozen("msi-fcm-relay"):
        eventually("the alert about late messages", lambda: prometheus.alerts("MSICanaryLate") != [], 400)
    eventually("the canary is heard again", lambda: prometheus.alerts("MSICanarySilent") == [], 60)


def test_a_message_is_counted_on_its_way(product, prometheus):
    eventually("each service is read", lambda: prometheus.value('sum(up{job="msi"})') == len(product.metrics) + 1, 60)
    product.send(product.new_subject())
    for expression in [
        'sum(msi_http_requests_total{method="POST",route="/message",status="201"})',
        'sum(msi_bus_requests_total{command="message.log",status="ok"})',
        'sum(msi_outbox_changes_total{kind="message",state="relayed"})',
        'sum(msi_fcm_sends_total{outcome="ok"})',
        'sum(msi_fcm_token_requests_total{outcome="ok"})',
        'sum(msi_store_operation_duration_seconds_count{store="message-log",operation="write"})',
        'sum(msi_store_commit_writes_count{store="message-log"})',
    ]:
        eventually(expression, lambda expression=expression: prometheus.value(expression) >= 1, 60)
    eventually("the used quota", lambda: 0 < prometheus.value("sum(msi_fcm_quota_used_ratio)") < 0.5, 60)
    age, rest = prometheus.value("sum(msi_fcm_token_age_seconds)"), prometheus.value("sum(msi_fcm_token_remaining_seconds)")
    assert 0 < age < 3600 and 1 < rest < 3600
    assert prometheus.value("sum(process_resident_memory_bytes)") > 1e7
    assert prometheus.value("min(process_start_time_seconds)") > 1.7e9


def test_sign_ins_are_counted_by_outcome(product, prometheus):
    before = prometheus.value('msi_sign_ins_total{way="password",outcome="unauthenticated"}')
    answer = requests.post(
        f"{product.url}/session", json={"account": "nobody", "password": "wrong-password"},
        headers={"Sec-Fetch-Site": "same-origin"}, timeout=60)
    assert answer.status_code == 401
    eventually(
        "the refused sign-in",
        lambda: prometheus.value('msi_sign_ins_total{way="password",outcome="unauthenticated"}') > before, 30)


def test_refused_commands_are_counted_by_reason(product, prometheus):
    def count(reason):
        return prometheus.value(f'msi_bus_refused_requests_total{{instance="{product.metrics["cube"]}",reason="{reason}"}}')

    reasons = {
        "unknown_command": [b'{"id":"1","command":"no.such"}', b"{}"],
        "deadline_exceeded": [b'{"id":"2","command":"bus.ping","deadline":1}', b"{}"],
        "malformed": [b"{not JSON", b"{}"],
        "too_large": [b'{"id":"3","command":"bus.ping"}', b" " * (2 << 20)],
    }
    before = {reason: count(reason) for reason in reasons}
    with zmq.Context() as context, context.socket(zmq.DEALER) as dealer:
        dealer.linger = 0
        dealer.connect(f"ipc://{product.folder}/run/cube.sock")
        for frames in [*reasons.values(), [b'{"id":"4","command":"bus.ping"}', b"{}", b"{}"]]:
            dealer.send_multipart(frames)
            assert dealer.poll(60_000)
            dealer.recv_multipart()
    before["malformed"] += 1
    for reason, value in before.items():
        eventually(reason, lambda reason=reason, value=value: count(reason) == value + 1, 30)


def test_labels_do_not_come_from_clients(product):
    for number in range(40):
        requests.get(f"{product.url}/nothing/{number}", timeout=60)
        requests.request(f"METHOD{number}", f"{product.url}/channel", timeout=60)
    text = requests.get(f"http://{product.metrics['gateway']}/metrics", timeout=60).text
    lines = [line for line in text.splitlines() if line.startswith("msi_http_requests_total")]
    assert any('route="none"' in line for line in lines)
    assert not any("METHOD" in line or "nothing" in line for line in lines)


def test_every_query_of_the_dashboard_and_the_rules_has_metrics(product, prometheus):
    dashboard = json.loads((MONITORING / "dashboard.json").read_text())
    expressions = [target["expr"] for panel in dashboard["panels"] for target in panel.get("targets", [])]
    assert len(expressions) > 10
    for expression in expressions:
        prometheus.query(expression.replace("$__rate_interval", "1m"))
    text = " ".join(expressions) + (MONITORING / "alerts.yml").read_text()
    names = set(re.findall(r"\b((?:msi|process)_[a-z_]+)\b", text))
    student = Student(product)
    student.sign_in()
    student.study()
    # The time of the canary's last arrival is there after the first one.
    eventually(
        "each of the metrics", lambda: [name for name in sorted(names) if not prometheus.query(f"count({name})")] == [], 60)


@pytest.mark.at_length
def test_the_canary_notices_that_pushes_stop(product, prometheus, canary):
    eventually("no alert", lambda: prometheus.alerts("MSICanaryPushSilent") == [], 60)
    with product.frozen("msi-webpush"):
        eventually("the alert about pushes", lambda: prometheus.alerts("MSICanaryPushSilent") != [], 60)
    eventually("the alert resolves", lambda: prometheus.alerts("MSICanaryPushSilent") == [], 60)


@pytest.mark.at_length
def test_a_canary_that_is_gone_is_silent_too(prometheus, canary):
    eventually("no alert", lambda: prometheus.alerts("MSICanarySilent") == [], 60)
    canary.stop()
    eventually("the alert", lambda: prometheus.alerts("MSICanarySilent") != [], 60)
