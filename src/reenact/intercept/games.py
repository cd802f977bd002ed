"""`pygame`: what comes from player and clock is recorded; display and drawing are really done.

Events and pressed keys are values. Events that the program posts itself stay in the recorded
queue: a replay gets them from there, with the program's own objects in them.
"""

from __future__ import annotations

from reenact import _core
from reenact.intercept import crossing, declared, handed, plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any

_FUNCTIONS = {
    "pygame.event": "get poll wait peek pump clear get_blocked get_grab get_keyboard_grab",
    "pygame.key": "get_pressed get_mods get_focused get_repeat",
    "pygame.mouse": "get_pos get_pressed get_rel get_focused get_visible",
    "pygame.time": "get_ticks wait delay set_timer",
    "pygame.joystick": "Joystick get_count",
}
_CLASSES = {"pygame.time": "Clock", "pygame.joystick": "JoystickType"}


def patch(module: ModuleType) -> None:
    name = module.__name__
    for kind in _CLASSES.get(name, "").split():
        if hasattr(module, kind):
            setattr(module, kind, crossing.stand_in(getattr(module, kind)))
    for function in _FUNCTIONS[name].split():
        native = getattr(module, function, None)
        if native is not None and not isinstance(native, type):
            setattr(module, function, declared.replacement(native, f"{name}.{function}"))
    if name == "pygame.event":
        _patch_events(module)
    elif name == "pygame.key":
        plain.know_kind("pygame.key.ScancodeWrapper", _pressed, _make_pressed)


def _patch_events(module: Any) -> None:
    native_post = module.post
    plain.know_kind("pygame.event.Event", lambda event: (event.type, event.dict))
    post_real = crossing.crossing("pygame.event.post", lambda event, fields: native_post(event))
    handed.pass_as_it_is(module.Event)

    def post(event: Any) -> Any:
        """The objects in the event are handed over, and come back with it."""
        return post_real(event, dict(event.dict))

    module.post = post


def _pressed(keys: Any) -> tuple[Any, ...]:
    raw = tuple(keys)
    return (len(raw), [index for index, is_down in enumerate(raw) if is_down])


def _make_pressed(kind: Any, count: int, pressed: list[int]) -> Any:
    down = frozenset(pressed)
    return kind(tuple([index in down for index in range(count)]))


_core.hide_frames(patch.__code__)
