"""Half of a circle: imports right, which imports left."""

from pkg import order

order.note("left")
import pkg.right  # noqa: E402

partner_was_finished = hasattr(pkg.right, "finished")
finished = True
