"""What `pyproject.toml` cannot say: a wheel takes the folder `data` along, as `committees/data`."""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py


class BuildWithData(build_py):
    """Builds the packages and puts the data beside them; a checkout reads its own data."""

    def run(self) -> None:
        super().run()
        if not self.editable_mode:
            target = Path(self.build_lib, "committees", "data")
            shutil.copytree("data", target, dirs_exist_ok=True)


setup(cmdclass={"build_py": BuildWithData})
