"""Builds the C core; everything else about the package is in pyproject.toml."""

from pathlib import Path

from setuptools import Extension, setup

CORE = Path("src/reenact/_core")

setup(
    ext_modules=[
        Extension(
            "reenact._core",
            sources=sorted(str(path) for path in CORE.glob("*.c")),
            depends=sorted(str(path) for path in CORE.glob("*.h")),
            extra_compile_args=[
                "-O2",
                "-std=gnu11",
                "-Wall",
                "-Wextra",
                "-fvisibility=hidden",
                "-ftls-model=initial-exec",
                "-flto",
            ],
            extra_link_args=["-flto", "-O2"],
        )
    ]
)
