"""OpenTelemetry: a collection resets the count of measurements while another thread uses it.

The reservoir adds one to the count and reads it again for randrange(). After a reset in between the
range is empty, and `counter.add` raises ValueError.
"""

import threading

from opentelemetry import trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.trace import NonRecordingSpan, SpanContext, TraceFlags

SPAN = NonRecordingSpan(SpanContext(7, 9, False, TraceFlags(TraceFlags.SAMPLED)))


def main() -> None:
    reader = InMemoryMetricReader()
    provider = MeterProvider([reader], shutdown_on_exit=False)
    orders = provider.get_meter("shop").create_counter("orders")
    sampled = trace.set_span_in_context(SPAN)
    orders.add(1, context=sampled)

    def count() -> None:
        orders.add(1, context=sampled)
        orders.add(1, context=sampled)

    threads = [threading.Thread(target=count), threading.Thread(target=reader.collect)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    provider.shutdown()


if __name__ == "__main__":
    main()
