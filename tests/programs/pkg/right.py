"""Half of a circle: imports left, which imports right."""

from pkg import order

order.note("right")
import pkg.left  # noqa: E402

partner_was_finished = hasattr(pkg.left, "finished")
finished = True
