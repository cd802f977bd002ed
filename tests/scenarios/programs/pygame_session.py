"""A small game: the player flees from monsters that spawn at random, until the keys run out.

Key presses come down a named pipe from whoever plays; frames are paced by pygame's clock, and
the movement depends on how long each frame took.
"""

from __future__ import annotations

import hashlib
import os
import random
import sys

os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
os.environ.setdefault("SDL_AUDIODRIVER", "dummy")
os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")

import pygame

KEYS = {"u": pygame.K_UP, "d": pygame.K_DOWN, "l": pygame.K_LEFT, "r": pygame.K_RIGHT}
STEPS = {
    pygame.K_UP: (0, -1),
    pygame.K_DOWN: (0, 1),
    pygame.K_LEFT: (-1, 0),
    pygame.K_RIGHT: (1, 0),
}


class Game:
    def __init__(self, keys: int) -> None:
        self.keys = keys
        self.screen = pygame.display.set_mode((160, 120))
        self.clock = pygame.time.Clock()
        self.player = pygame.Vector2(80, 60)
        self.direction = pygame.Vector2(0, 0)
        self.monsters: list[pygame.Vector2] = []
        self.hits = 0
        self.frames = hashlib.sha256()

    def post_input(self) -> bool:
        """What the player pressed since the last frame becomes events; false at the end."""
        try:
            pressed = os.read(self.keys, 64).decode()
        except BlockingIOError:
            return True
        for key in pressed:
            pygame.event.post(pygame.event.Event(pygame.KEYDOWN, key=KEYS[key]))
        return bool(pressed)

    def handle_events(self) -> None:
        for event in pygame.event.get():
            if event.type == pygame.KEYDOWN:
                self.direction = pygame.Vector2(STEPS[event.key])

    def move(self, elapsed_ms: int) -> None:
        self.player += self.direction * elapsed_ms / 10
        self.player.x %= 160
        self.player.y %= 120
        if random.random() < 0.2:
            self.monsters.append(pygame.Vector2(random.randrange(160), random.randrange(120)))
        for monster in self.monsters:
            monster += (self.player - monster) * random.random() / 20
            self.hits += monster.distance_to(self.player) < 8

    def draw(self) -> None:
        self.screen.fill((0, 0, 40))
        pygame.draw.circle(self.screen, "yellow", self.player, 5)
        for monster in self.monsters:
            pygame.draw.rect(self.screen, "red", pygame.Rect(monster.x, monster.y, 6, 6))
        pygame.display.flip()
        self.frames.update(pygame.image.tobytes(self.screen, "RGB"))


def main() -> None:
    pygame.init()
    game = Game(os.open(sys.argv[1], os.O_RDONLY))
    os.set_blocking(game.keys, False)
    frames = 0
    while game.post_input():
        game.handle_events()
        game.move(game.clock.tick(100))
        game.draw()
        frames += 1
    os.close(game.keys)
    print(f"{frames} frames, {len(game.monsters)} monsters, {game.hits} hits")
    print(f"played {pygame.time.get_ticks()} ms")
    print("state", game.frames.hexdigest())
    pygame.quit()


main()
