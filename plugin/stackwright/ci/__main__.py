"""`python -m stackwright.ci`: what the GitHub action and the GitLab job run; settings come from the environment."""

from __future__ import annotations

import os
import sys

from stackwright.__main__ import guarded
from stackwright.ci.job import run_job
from stackwright.text.streams import prepare

if __name__ == "__main__":
    prepare()
    sys.exit(guarded(lambda: run_job(os.environ)))
