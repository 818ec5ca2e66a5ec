"""What `pyproject.toml` cannot say: what a wheel has and lacks beside what a checkout has."""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py


class BuildWheel(build_py):
    """Takes `data` along, as `committees/data`, and leaves out the book's own numbers."""

    def run(self) -> None:
        if not self.editable_mode:
            self.packages = [name for name in self.packages if not name.startswith("companion")]
        super().run()
        if not self.editable_mode:
            target = Path(self.build_lib, "committees", "data")
            shutil.copytree("data", target, dirs_exist_ok=True)


setup(cmdclass={"build_py": BuildWheel})
